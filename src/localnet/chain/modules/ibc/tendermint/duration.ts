import { NS_PER_SECOND } from "../../../../../platform/base/time.ts";
import type { Duration } from "../../../../../cosmos/proto/gen/google/protobuf/duration.ts";

/** Converts a `google.protobuf.Duration` to nanoseconds; absent is 0. */
export function durationNs(duration: Duration | undefined): bigint {
  if (duration === undefined) return 0n;
  return duration.seconds * NS_PER_SECOND + BigInt(duration.nanos);
}
