import type { Assessment, Forecast } from "./assessment.ts";
import { ENOUGH_BLOCKS } from "./reward-tier.ts";

/** Whether a month has so few counted blocks that its rate says little: with one miss of ten blocks it is 90 %. */
export function isEarly({ counts: { good, bad } }: Pick<Assessment, "counts">): boolean {
  return good + bad < ENOUGH_BLOCKS;
}

/** Returns the forecast, unless it has no other basis than a month that {@link isEarly}. */
export function foundedForecast(assessment: Assessment | undefined): Forecast | undefined {
  if (assessment?.forecast?.basis === "month so far" && isEarly(assessment)) return undefined;
  return assessment?.forecast;
}
