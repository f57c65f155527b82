/** Whether a trace could tell more of what failed inside. Pure. */
import type { Report } from "../../report/schema.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";

/**
 * Whether the first transaction makes calls that may fail, and nothing says whether they did or why. Later ones stand on
 * what earlier ones leave, which a call that is traced by itself does not have.
 */
export const isHidden = ([{ outcome }]: Bundle<Filled>, { options }: Report): boolean =>
  options.stateOverrides === null &&
  options.blockOverrides === null &&
  outcome.inner !== undefined &&
  (outcome.inner.unseen > 0 || outcome.inner.failed.some(({ revert, data }) => revert === null && data !== null));
