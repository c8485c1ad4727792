import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { AlertEvent } from "./alert-event.ts";
import type { EventChannel } from "./channel.ts";
import { safeText } from "./http-post.ts";

/** Result of a test of one channel. `error` is null when the receiver accepted the notification. */
export interface ChannelTest {
  readonly channel: string;
  readonly kind: string;
  readonly error: string | null;
}

export interface TestOptions {
  readonly clock: Clock;
  /** Why there is a test, as the last part of a sentence. */
  readonly reason: string;
}

/**
 * Sends a test notification and its end to each channel, once, in parallel. Nothing is repeated and nothing is stored:
 * the caller sees which channel fails and why.
 */
export async function testChannels(
  channels: readonly EventChannel[],
  { clock, reason }: TestOptions,
  signal: AbortSignal,
): Promise<readonly ChannelTest[]> {
  const events = testEvents(clock.nowMs(), reason);
  return Promise.all(
    channels.map(async ({ name, kind, deadlineMs, maxEvents, send }) => {
      try {
        await withDeadline(`channel ${name}`, deadlineMs, signal, async (inner) => {
          if (maxEvents > 1) return send(events, inner);
          for (const event of events) await send([event], inner);
        });
        return { channel: name, kind, error: null };
      } catch (error) {
        if (signal.aborted) throw error;
        return { channel: name, kind, error: safeText(error) };
      }
    }),
  );
}

/** The two events of a test. Each test has ids of its own, so that a receiver shows it again. */
function testEvents(nowMs: number, reason: string): readonly AlertEvent[] {
  const firing: AlertEvent = {
    id: `test/${nowMs}/firing`,
    key: `test/${nowMs}`,
    alert: "test",
    kind: "firing",
    severity: "info",
    validator: "test",
    chainId: "test",
    title: "Test notification",
    sinceMs: nowMs,
    atMs: nowMs,
    reason,
    description: "This is a test. No alert fires.",
    action: "Nothing.",
    impact: "None.",
    runbook: "none",
    cost: { blocks: 0n },
  };
  return [firing, { ...firing, id: `test/${nowMs}/resolved`, kind: "resolved", reason: "the test is over" }];
}
