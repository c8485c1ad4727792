import { ALL_PRICES_MISSING } from "./all-prices-missing.ts";
import type { AlertCondition } from "./condition.ts";

/** All alerts, in the order of the API and the status page. */
export const CONDITIONS: readonly AlertCondition[] = [ALL_PRICES_MISSING];
