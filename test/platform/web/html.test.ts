import { runInNewContext, Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { html } from "../../../src/platform/web/html.ts";
import { pageReply } from "../../../src/platform/web/page-shell.ts";
import { PAGE_SCRIPT } from "../../../src/platform/web/page-script.ts";
import { dataTable } from "../../../src/platform/web/parts.ts";
import { barPlot } from "../../../src/platform/web/plots.ts";

const EVIL = `<script>alert("x")</script>&'`;
const ESCAPED = "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;";

describe("html", () => {
  it("escapes texts in content and attributes, and not what is HTML already", () => {
    expect(html`<p title="${EVIL}">${EVIL}</p>`.text).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`);
    expect(html`<p>${html`<b>${1n}</b>`}${[html`<i>`, "<"]}</p>`.text).toBe("<p><b>1</b><i>&lt;</p>");
  });

  it("leaves out undefined and false, and writes 0", () => {
    expect(html`${undefined}${false}${0}${0n}`.text).toBe("00");
  });
});

describe("a table", () => {
  it("names its columns in every cell, and escapes", () => {
    const { text } = dataTable({
      caption: EVIL,
      columns: [
        { name: "row", cell: (row: string) => row },
        { name: EVIL, isNumber: true, cell: (row) => row },
      ],
      rows: [EVIL],
      rowId: (row) => row,
    });
    expect(text).not.toContain("<script");
    expect(text).toContain(`<th scope="row" role="rowheader">${ESCAPED}</th>`);
    expect(text).toContain(`data-label="${ESCAPED}" class="number"`);
  });
});

describe("a bar plot", () => {
  const plot = { title: "Results", summary: "3", from: "then", to: "now", format: String };

  it("says in words what it shows, and marks time of which nothing is known", () => {
    const { text } = barPlot({ ...plot, bars: [undefined, undefined, [{ style: "good", value: 3 }]] });
    expect(text).toContain(`role="img" aria-label="Results: 3"`);
    expect(text).toContain("not running");
    expect(text).toContain(`<path class="b-good"`);
  });

  it("has no bar for zero, whatever the greatest value is", () => {
    const { text } = barPlot({
      ...plot,
      bars: [[{ style: "good", value: 0 }], [{ style: "bad", value: 0 }]],
    });
    expect(text).not.toMatch(/class="b-(?:good|bad)"/);
    expect(text).not.toContain("NaN");
    expect(text).not.toContain("not running");
  });
});

describe("the shell of a page", () => {
  const frame = { heading: EVIL, version: EVIL, startedAtMs: 0, links: [{ path: "/x", text: EVIL }] };
  const content = {
    title: EVIL,
    asOfMs: 1_000,
    sections: [{ id: "one", label: EVIL, content: html`<p>${EVIL}</p>` }],
  };
  const { body, headers } = pageReply({ ...frame, nav: [], path: "/" }, content, {
    nowMs: 4_400,
    everyMs: 2_000,
  });

  it("escapes, and allows only its own style and script", () => {
    expect(String(body).match(/<script/g)).toHaveLength(1);
    expect(headers?.["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; connect-src 'self'/,
    );
    expect(String(body)).not.toMatch(/(?:src|href)="(?!\/x"|#main")/);
  });

  it("says of which time it is, and loads itself again without a script", () => {
    expect(String(body)).toContain(
      `As of <time datetime="1970-01-01T00:00:01.000Z">1970-01-01 00:00:01 UTC</time>, 3 s ago`,
    );
    expect(String(body)).toContain(`<noscript><meta http-equiv="refresh"`);
  });

  it("has a script that parses", () => {
    expect(() => new Script(PAGE_SCRIPT)).not.toThrow();
    expect(() => runInNewContext("(() => {", {})).toThrow();
    expect(PAGE_SCRIPT).not.toContain("</");
  });
});
