import { describe, expect, it } from "vitest";
import { createSubmissionHealth } from "../../src/relayer/connection/worker.ts";

describe("the submission health of a connection", () => {
  const [first, second] = [new Error("first"), new Error("second")];

  it("has the last error until a result is included", () => {
    const health = createSubmissionHealth();
    expect(health.error()).toBeUndefined();
    health.failed(first);
    health.failed(second);
    expect(health.error()).toBe(second);
    health.take();
    expect(health.error()).toBe(second);
    health.succeeded();
    expect(health.error()).toBeUndefined();
  });

  it("gives each error to one cycle", () => {
    const health = createSubmissionHealth();
    expect(health.take()).toBeUndefined();
    health.failed(first);
    expect([health.take(), health.take()]).toEqual([first, undefined]);
    // The same error once more is a new one.
    health.failed(first);
    expect(health.take()).toBe(first);
  });

  it("gives no error that an inclusion has ended", () => {
    const health = createSubmissionHealth();
    health.failed(first);
    health.succeeded();
    expect(health.take()).toBeUndefined();
  });
});
