/** The page and the picture as a browser shows them: order, sizes, contrast, print. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHtml, toSvg, type Report } from "../rooms/report.js";
import { findChromiumOrWarn } from "../harness/chromium.js";
import { startViewer, type Viewer, type Viewing } from "../harness/viewer.js";
import { hostile } from "./arbitrary.js";
import { blocked, report, unknown } from "./fixtures.js";
import { everydayNames, proveEverydays, type Everyday } from "./everyday.js";
import { swap, thirty, tokenInfos } from "./scenes.js";

const bin = findChromiumOrWarn("how reports look in a browser");

const named = (text: string): Report => {
  const base = swap();
  return { ...base, tokens: tokenInfos.map((info) => ({ ...info, symbol: text, name: text })) };
};
const long = named("W".repeat(300));

const scenes: ReadonlyArray<readonly [name: string, make: () => Report]> = [
  ["a plain transfer", report],
  ["a blocked call", blocked],
  ["a node that cannot simulate", unknown],
  ["a swap with approvals", swap],
  ["a bundle of thirty", thirty],
  ["a token with an endless name", () => long],
];

const phone = { width: 390, height: 844 };
const desktop = { width: 1200, height: 900 };
const ways: ReadonlyArray<readonly [name: string, viewing: Viewing]> = [
  ["on a phone, light", phone],
  ["on a phone, dark", { ...phone, scheme: "dark" }],
  ["on a desktop, light", desktop],
  ["on a desktop, dark", { ...desktop, scheme: "dark" }],
  ["in print, from a dark screen", { width: 800, height: 1100, scheme: "dark", media: "print" }],
];

/** What reaches beyond the window, the folded part included. */
const overflowing = `(() => {
  const print = matchMedia("print").matches;
  if (!print) document.querySelector("details").open = true;
  const wide = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
  return [document.documentElement.scrollWidth > innerWidth, wide.slice(0, 3).map((one) => one.outerHTML.slice(0, 120))];
})()`;

/** The texts whose contrast with what is behind them is below 4.5. */
const pale = `(() => {
  const print = matchMedia("print").matches;
  const details = document.querySelector("details");
  if (!print && details !== null) details.open = true;
  const canvas = document.createElement("canvas").getContext("2d");
  const parse = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.slice(0, 3).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const behind = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  let seen = 0;
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.data.trim() === "" || ["TITLE", "STYLE", "title", "desc", "style"].includes(element.nodeName)) continue;
    seen++;
    const svg = element.closest("svg");
    const grounds = svg === null
      ? [behind(element)]
      : [...svg.querySelectorAll("rect")].map((rect) => parse(getComputedStyle(rect).fill));
    const ink = parse(svg === null ? getComputedStyle(element).color : getComputedStyle(element).fill);
    const least = Math.min(...grounds.map((ground) => ratio(ink, ground)));
    if (least < 4.5) found.push([element.nodeName, element.className.baseVal ?? element.className, texts.currentNode.data.slice(0, 30), least]);
  }
  return { found: found.slice(0, 5), seen };
})()`;

/** The picture's texts that leave it, or run into a box that they are not in. */
const colliding = `(() => {
  const svg = document.querySelector("svg");
  const whole = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll("rect.box")].map((one) => one.getBoundingClientRect());
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const apart = (a, b) => a.right <= b.left + 1 || a.left >= b.right - 1 || a.bottom <= b.top + 1 || a.top >= b.bottom - 1;
  return [...svg.querySelectorAll("text")].flatMap((text) => {
    const at = text.getBoundingClientRect();
    const bad = !inside(at, whole) || boxes.some((box) => !inside(at, box) && !apart(at, box));
    return bad ? [text.textContent] : [];
  });
})()`;

const order = `(() => {
  const top = (find) => find?.getBoundingClientRect().top ?? null;
  const heading = (text) => [...document.querySelectorAll("main > section > h2")].find((one) => one.textContent.startsWith(text));
  const one = (selector) => document.querySelector(selector);
  return [one("h1"), one(".because"), one(".summary"), heading("Warnings"), one("svg"), heading("Movements"), heading("Approvals"), heading("Cost"), one("footer"), one("details")].map(top);
})()`;

describe.runIf(bin !== null)("a report as HTML in a browser", () => {
  let browser: Viewer;
  let everydays: Readonly<Record<Everyday, Report>>;
  beforeAll(async () => {
    if (bin !== null) [browser, everydays] = await Promise.all([startViewer(bin), proveEverydays()]);
  });
  afterAll(() => browser?.stop());

  describe.each(scenes)("on the screen %s", (_, make) => {
    it.each(ways)("fits with %s, can be read, and its picture keeps its texts apart", async (_, viewing) => {
      const html = toHtml(make());
      expect(await browser.look("page.html", html, viewing, overflowing)).toEqual([false, []]);
      const { found, seen } = await browser.look<{ found: unknown; seen: number }>("page.html", html, viewing, pale);
      expect([found, seen > 10]).toEqual([[], true]);
      expect(await browser.look("page.html", html, viewing, colliding)).toEqual([]);
    });
  });

  it.each([
    ["a phone", phone],
    ["a desktop", desktop],
  ])(
    "is in reading order on %s: why, what, warnings, picture, movements, approvals, cost, the rest",
    async (_, viewing) => {
      const tops = await browser.look<ReadonlyArray<number | null>>("page.html", toHtml(swap()), viewing, order);
      expect(tops).not.toContain(null);
      expect(tops).toEqual([...tops].sort((a, b) => Number(a) - Number(b)));
    },
  );

  it("shows the first warning on the first screen of a phone, however large the bundle", async () => {
    const bottoms = `[...document.querySelectorAll("ul.warn li strong")].map((one) => one.getBoundingClientRect().bottom)`;
    const [first] = await browser.look<ReadonlyArray<number>>("page.html", toHtml(thirty()), phone, bottoms);
    expect(first).toBeLessThan(844);
  });

  const phones = everydayNames.flatMap((name) => (["light", "dark"] as const).map((scheme) => [name, scheme] as const));
  it.each(phones)(
    "shows verdict, call, movements and cost on the first screen of a phone: %s, %s",
    async (name, scheme) => {
      const made = everydays[name];
      const lines = `[...document.querySelectorAll("h1, .because, .summary")].map((one) => [one.textContent, one.getBoundingClientRect().bottom])`;
      const page = toHtml(made);
      const seen = await browser.look<ReadonlyArray<readonly [string, number]>>(
        ...(["page.html", page, { ...phone, scheme }, lines] as const),
      );
      const first = seen.filter(([, bottom]) => bottom < 844).map(([text]) => text);
      expect(first).toHaveLength(seen.length);
      expect(first[0]).toBe(made.verdict.toUpperCase());
      const call = made.transactions[0]?.call;
      const named = call == null ? "" : (call.function ?? call.selector ?? "");
      expect(first.join("\n")).toContain(named);
      expect(first.join("\n")).toMatch(/send|receive|let|without moving|claims/);
      expect(first.join("\n")).toMatch(
        name === "revert" ? /pay at most [0-9.]+ gwei\s+per gas/ : /pay at most [0-9.]+ ETH\s+in fees/,
      );
      expect(made.stage).toBe(name === "revert" || name === "no funds" ? "scanned" : "proven");
    },
  );

  it("fits two screens of a phone with a plain transfer", async () => {
    const height = await browser.look<number>(
      "p.html",
      toHtml(report()),
      phone,
      "document.documentElement.scrollHeight",
    );
    expect(height).toBeLessThan(2 * 844);
  });

  it("prints the folded part, too", async () => {
    const visible = `document.querySelector("details section:last-child").checkVisibility({ contentVisibilityAuto: true }) && document.querySelector("details section:last-child").getBoundingClientRect().height > 20`;
    const paper = { width: 800, height: 1100, media: "print" } as const;
    expect(await browser.look("page.html", toHtml(swap()), paper, visible)).toBe(true);
    expect(await browser.look("page.html", toHtml(swap()), desktop, visible)).toBe(false);
  });

  const pictures: ReadonlyArray<readonly [name: string, made: Report]> = [
    ["a swap", swap()],
    ...hostile.map((text) => [JSON.stringify(text).slice(0, 40), named(text)] as const),
  ];
  it.each(pictures)("has a picture that is a whole SVG by itself: %s", async (_, made) => {
    const kind = `[document.documentElement.nodeName, document.querySelectorAll("script, parsererror").length, document.querySelectorAll("text").length > 8]`;
    const svg = toSvg(made);
    expect(await browser.look("picture.svg", svg, phone, kind)).toEqual(["svg", 0, true]);
    expect(await browser.look("picture.svg", svg, phone, colliding)).toEqual([]);
  });
});
