import { request } from "undici";
import { withDeadline } from "../../base/abort.ts";
import { CodedError } from "../../base/errors.ts";
import type { Secret } from "../../base/secret.ts";
import { encodeNotification, type Notification } from "./notification.ts";

/** Receiver of the notifications. */
export interface WebhookConfig {
  readonly url: Secret;
  readonly deadlineMs: number;
}

/** Thrown when the receiver answers with a status other than 2xx. */
class WebhookError extends CodedError<{ readonly code: "webhook-refused"; readonly status: number }> {}

/** Sends a notification. Resolves when the receiver accepted it. */
export type SendNotification = (notification: Notification, signal: AbortSignal) => Promise<void>;

/** Sends an HTTP POST and returns the status. The URL is secret: an error must not contain it. */
export type PostJson = (post: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}) => Promise<number>;

/** Creates a sender for one webhook. The header `idempotency-key` is the notification's id. */
export function createWebhook(config: WebhookConfig, post: PostJson = postJson): SendNotification {
  return (notification, signal) =>
    withDeadline("the webhook", config.deadlineMs, signal, async (inner) => {
      const headers = { "content-type": "application/json", "idempotency-key": notification.id };
      const status = await post({
        url: config.url.reveal(),
        headers,
        body: encodeNotification(notification),
        signal: inner,
      });
      if (status >= 200 && status < 300) return;
      throw new WebhookError({ code: "webhook-refused", status }, `the webhook answered HTTP ${status}`);
    });
}

const postJson: PostJson = async ({ url, headers, body, signal }) => {
  const response = await request(url, { method: "POST", headers, body, signal });
  // Only the status matters. The body is read to the end, within a limit, so that the connection can be used again.
  await response.body.dump({ limit: 65_536, signal });
  return response.statusCode;
};
