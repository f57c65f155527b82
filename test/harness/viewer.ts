/** A browser that shows a page and tells how it came out. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startChromium } from "./chromium.js";

/** How a page is looked at. */
export interface Viewing {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scheme?: "light" | "dark";
  readonly media?: "screen" | "print";
}

export interface Viewer {
  /** Opens a file with this name and content, and returns what `expression` is there. */
  readonly look: <A>(name: string, content: string, viewing: Viewing, expression: string) => Promise<A>;
  readonly stop: () => Promise<void>;
}

export const startViewer = async (bin: string): Promise<Viewer> => {
  const directory = mkdtempSync(join(tmpdir(), "viewer-"));
  const chromium = startChromium(bin);
  const tab = await chromium.open();
  return {
    look: async <A>(name: string, content: string, viewing: Viewing, expression: string) => {
      const { width, height, scheme = "light", media = "screen" } = viewing;
      const file = join(directory, name);
      writeFileSync(file, content);
      await tab.resize(width, height);
      await tab.emulate(media, scheme);
      await tab.goto(pathToFileURL(file).href);
      return (await tab.evaluate(expression)) as A;
    },
    stop: async () => {
      await chromium.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
