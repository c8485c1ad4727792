import { limitHeapGrowth } from "../../src/platform/process/heap.ts";

/** Prints the greatest size of the heap, in bytes, of a process with much live data that also produces garbage. */
if (process.env["LIMIT"] === "1") limitHeapGrowth();
const item = (index: number) => ({ index, list: [index, index], text: `x${index}` });
const live = Array.from({ length: 200_000 }, (_, index) => item(index));
// Old enough to leave the young generation before it is garbage.
const aging = live.slice(0, 75_000);
let peak = 0;
for (let index = 0; index < 2_000_000; index++) {
  aging[index % aging.length] = item(index);
  if (index % 10_000 === 0) peak = Math.max(peak, process.memoryUsage().heapTotal);
}
process.stdout.write(`${live.length} ${peak}\n`);
