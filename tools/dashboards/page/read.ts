/** What a person sees of a panel. */
interface SeenPanel {
  /** The panel's id in the dashboard's JSON. */
  readonly id: number;
  readonly kind: string;
  readonly title: string;
  readonly text: string;
  /** Pixels from the top of the page. */
  readonly bottom: number;
  /** Texts that do not fit into their place, with the place. */
  readonly clipped: readonly string[];
  /** The sentence of a panel without data. */
  readonly empty: string | undefined;
  /** Numbers of a tile, with their backgrounds. */
  readonly tiles: readonly { readonly text: string; readonly color: string }[];
  /** Cells of a table by row, and the colours of their texts. The first row has the heads of the columns, unless there are none. */
  readonly rows: readonly (readonly { readonly text: string; readonly color: string }[])[];
  /** Names and last values of a legend. */
  readonly legend: readonly {
    readonly name: string;
    readonly isClipped: boolean;
    readonly values: readonly string[];
  }[];
  /** Rows of a timeline at the end of the range. */
  readonly states: readonly { readonly name: string; readonly state: string; readonly color: string }[];
  /** Annotations that a graph shows. */
  readonly marks: number;
  /** A graph has pixels that differ from its background. */
  readonly isDrawn: boolean;
}

/** Reads all panels of the page, from the top. */
export function readPanels(): readonly SeenPanel[] {
  return [...document.querySelectorAll<HTMLElement>("[data-viz-panel-key^=panel-]")].map(readPanel);
}

function readPanel(panel: HTMLElement): SeenPanel {
  const kind = panel.dataset["pluginId"] ?? "";
  const title = panel.querySelector<HTMLElement>("h2");
  const empty = panel.querySelector<HTMLElement>("[data-empty]");
  const cells = [...panel.querySelectorAll<HTMLElement>("[role=gridcell], [role=columnheader]")];
  const legend = kind === "timeseries" ? readLegend(panel) : [];
  return {
    id: Number(panel.dataset["vizPanelKey"]?.replace("panel-", "")),
    kind,
    title: title?.innerText ?? "",
    text: panel.innerText,
    bottom: panel.getBoundingClientRect().bottom + window.scrollY,
    clipped: [
      ...(title !== null && isClipped(title) ? [`title ${title.innerText}`] : []),
      // A table without heads still has their cells, without a height.
      ...cells
        .filter((cell) => cell.clientHeight > 1 && isClipped(cell))
        .map((cell) => `cell ${cell.innerText}`),
      ...(kind === "stat" && isClipped(panel) ? [`tile ${panel.innerText.replaceAll("\n", " ")}`] : []),
    ],
    empty: empty?.innerText,
    tiles: kind === "stat" ? readTiles(panel) : [],
    rows: readRows(panel),
    legend,
    states: [...panel.querySelectorAll<SVGGElement>("[data-row]")].map(({ dataset }) => ({
      name: dataset["row"] ?? "",
      state: dataset["state"] ?? "",
      color: nameOf(dataset["color"] ?? ""),
    })),
    marks: Number(panel.querySelector<HTMLElement>("[data-marks]")?.dataset["marks"] ?? 0),
    isDrawn: [...panel.querySelectorAll("canvas")].some(isDrawn),
  };
}

/** Whether a text reaches, to the left or to the right, over an edge that cuts it off. */
function isClipped(element: HTMLElement): boolean {
  const panel = element.closest<HTMLElement>("[data-viz-panel-key]");
  return textNodes(element).some((text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const { left, right } = range.getBoundingClientRect();
    for (
      let holder = text.parentElement;
      holder !== null && holder !== panel?.parentElement;
      holder = holder.parentElement
    ) {
      const edge = holder.getBoundingClientRect();
      const cuts = holder === panel || getComputedStyle(holder).overflowX !== "visible";
      if (cuts && (left < edge.left - 1 || right > edge.right + 1)) return true;
    }
    return false;
  });
}

function textNodes(element: HTMLElement): readonly Node[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found: Node[] = [];
  while (walker.nextNode() !== null)
    if (walker.currentNode.textContent?.trim() !== "") found.push(walker.currentNode);
  return found;
}

/** A tile's background is two tones of one colour, from left to right. A panel without backgrounds is one tile. */
function readTiles(panel: HTMLElement): SeenPanel["tiles"] {
  const background = (one: HTMLElement): string => getComputedStyle(one).backgroundImage;
  const colored = [...panel.querySelectorAll<HTMLElement>("*")].filter((one) =>
    background(one).startsWith("linear-gradient"),
  );
  const textOf = (one: HTMLElement): string => one.innerText.replaceAll(/\s+/g, " ").trim();
  return colored.length > 0
    ? colored.map((one) => ({ text: textOf(one), color: nameOf(background(one)) }))
    : [{ text: textOf(panel), color: "none" }];
}

function readRows(panel: HTMLElement): SeenPanel["rows"] {
  return [...panel.querySelectorAll<HTMLElement>("[role=row]")].map((row) =>
    [...row.querySelectorAll<HTMLElement>("[role=gridcell], [role=columnheader]")].map((cell) => ({
      text: cell.innerText.trim(),
      color: nameOf(getComputedStyle(cell).color),
      link: cell.querySelector("a")?.href,
    })),
  );
}

function readLegend(panel: HTMLElement): SeenPanel["legend"] {
  return [...panel.querySelectorAll<HTMLTableRowElement>("table tbody tr")].map((row) => {
    // The first cell has the line's colour.
    const [, name, ...values] = [...row.querySelectorAll<HTMLElement>("td")];
    return {
      name: name?.innerText.trim() ?? "",
      isClipped: name !== undefined && isClipped(name),
      values: values.map((value) => value.innerText.trim()),
    };
  });
}

/** Name of the first colour in a CSS value: by its hue, as a person would call it. */
function nameOf(css: string): string {
  const [red = 0, green = 0, blue = 0, alpha = 1] = channels(css);
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (alpha === 0) return "none";
  if (high - low < 45) return "grey";
  const middle =
    high === red
      ? ((green - blue) / (high - low) + 6) % 6
      : high === green
        ? (blue - red) / (high - low) + 2
        : (red - green) / (high - low) + 4;
  const hue = middle * 60;
  const names: readonly (readonly [until: number, name: string])[] = [
    [18, "red"],
    [41, "orange"],
    [70, "yellow"],
    [165, "green"],
    [260, "blue"],
    [330, "purple"],
  ];
  return names.find(([until]) => hue < until)?.[1] ?? "red";
}

/** Theme colours are hexadecimal, computed ones are not. */
function channels(css: string): readonly number[] {
  const hex = /#([\da-f]{6})/i.exec(css)?.[1];
  if (hex !== undefined) return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return (/rgba?\(([^)]*)\)/.exec(css)?.[1] ?? "0,0,0,0").split(/[\s,/]+/).map(Number);
}

function isDrawn(canvas: HTMLCanvasElement): boolean {
  const { width, height } = canvas;
  if (width === 0 || height === 0) return false;
  const { data = [] } = canvas.getContext("2d")?.getImageData(0, 0, width, height) ?? {};
  let points = 0;
  for (let at = 0; at < data.length; at += 4)
    if (
      (data[at + 3] ?? 0) > 0 &&
      Math.max(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0) -
        Math.min(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0) >
        60
    )
      points += 1;
  // A line has at least this many coloured pixels.
  return points > 50;
}
