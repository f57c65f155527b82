/**
 * Where a promise method was called. What fails later has only frames of the runtime in its stack, and whoever reads it
 * looks for a line of their own.
 */

/** Frames of a stack, as V8 (`    at f (file:1:2)`) and the others (`f@file:1:2`) write them. */
const isFrame = (line: string): boolean => /^\s+at |^[^\s@]*@/.test(line);

/** Frames that are kept: ours, at most six, and the first of whoever called. Each costs about half a microsecond. */
const mostFrames = 7;

/** To be made where a method is called; engines write its stack out only when it is read. */
export const callSite = (): Error => {
  const { stackTraceLimit } = Error;
  // why: `Reflect.set` throws nowhere, not where a page has frozen what is built in
  const isFewer = stackTraceLimit > mostFrames && Reflect.set(Error, "stackTraceLimit", mostFrames);
  const called = new Error("called");
  if (isFewer) Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return called;
};

/** As the stacks of errors were before a call was told in them: one error may end several calls. */
const before = new WeakMap<Error, string>();

/** The error with the frames of a {@link callSite} at the end of its stack. */
export const withCallSite = (error: unknown, called: Error): unknown => {
  if (!(error instanceof Error) || Object.isFrozen(error)) return error;
  const own = before.get(error) ?? error.stack ?? String(error);
  const frames = (called.stack ?? "").split("\n").filter(isFrame);
  before.set(error, own);
  error.stack = [own, ...frames].join("\n");
  return error;
};
