import { expect, it } from "vitest";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { isSymptom } from "../../../src/watchdog/alerts/miss-causes.ts";
import { publicCause } from "../../../src/watchdog/status-page/public-status.ts";

it("every critical condition that can be an outage has words of its own for the public", () => {
  const causes = CONDITIONS.filter(({ name, severity }) => severity === "critical" && !isSymptom(name)).map(
    ({ name }) => name,
  );
  expect(causes.length).toBeGreaterThan(10);
  expect(causes.filter((name) => publicCause(name) === publicCause("no such condition"))).toEqual([]);
});
