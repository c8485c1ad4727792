import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { expect, it } from "vitest";
import { readMetricsPage } from "../../src/watchdog/sources/page-reader.ts";

setFlagsFromString("--expose-gc");
const collect = z.custom<() => void>((value) => typeof value === "function").parse(runInNewContext("gc"));

const PAGES = 300;
const PAGE_BYTES = 60_000;

/** Memory in use after a full collection, bytes. */
function usedBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it("the samples of a page do not keep its text in memory", async () => {
  const line = 'a_metric_that_nobody_wants{provider="a_long_provider_name"} 1\n';
  const filler = line.repeat(Math.floor(PAGE_BYTES / line.length));
  const readPage = (index: number) => {
    const bytes = new TextEncoder().encode(`${filler}wanted{provider="a_provider_with_number_${index}"} 1\n`);
    async function* body() {
      yield bytes;
    }
    const options = {
      url: "http://node/",
      maxBytes: 2 * PAGE_BYTES,
      needs: (metric: string) => metric === "wanted",
    };
    return readMetricsPage(
      options,
      async () => ({ status: 200, body: body() }),
      new AbortController().signal,
    );
  };
  const before = usedBytes();
  const kept: unknown[] = [];
  for (let index = 0; index < PAGES; index++) kept.push(await readPage(index));
  expect(usedBytes() - before).toBeLessThan(PAGES * PAGE_BYTES * 0.3);
  expect(kept).toHaveLength(PAGES);
});
