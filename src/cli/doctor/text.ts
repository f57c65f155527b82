/** A diagnosis for a terminal. */
import type { Tone } from "../../report/document.js";
import { painter } from "../../report/text.js";
import type { Look } from "../terminal.js";
import type { Diagnosis, Level } from "./doctor.js";
import type { Status } from "./probe.js";

const tones: Readonly<Record<Level | Status, Tone>> = {
  full: "good",
  reduced: "warn",
  unknown: "warn",
  yes: "good",
  no: "bad",
};

/** The level first, then every answer in its group, then what it means. */
export const diagnosisText = (diagnosis: Diagnosis, { color }: Look): string => {
  const paint = painter(color);
  const { endpoint, level, summary, findings, meaning } = diagnosis;
  const [only, ...others] = findings;
  if (only?.status === "unknown" && others.length === 0)
    return `${paint(level.toUpperCase(), tones[level], "strong")} · ${summary} · ${endpoint} · ${only.detail}`;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const groups = [...new Set(findings.map(({ group }) => group))];
  return [
    `${paint(level.toUpperCase(), tones[level], "strong")} · ${summary}`,
    paint(endpoint, "dim"),
    ...groups.flatMap((group) => [
      "",
      paint(group, "strong"),
      ...findings
        .filter((finding) => finding.group === group)
        .map(({ name, status, detail }) =>
          `  ${paint(status.padEnd(7), tones[status])}  ${name.padEnd(width)}  ${paint(detail, "dim")}`.trimEnd(),
        ),
    ]),
    ...(meaning.length === 0 ? [] : ["", paint("What it means", "strong"), ...meaning.map((line) => `  - ${line}`)]),
    "",
  ].join("\n");
};
