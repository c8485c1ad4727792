import { withDeadline } from "../../base/abort.ts";
import { request } from "undici";
import { CodedError } from "../../base/errors.ts";
import type { WebhookConfig } from "../config.ts";
import { type Notice, noticeBody } from "./notification.ts";

/** A receiver that answered, but not with success. */
class WebhookError extends CodedError<{ readonly code: "webhook-refused"; readonly status: number }> {}

/** Posts a notice; resolves when the receiver has taken it. */
export type SendNotice = (notice: Notice, signal: AbortSignal) => Promise<void>;

/** Sends one HTTP POST and gives the status. The URL is secret: it must not get into an error. */
export type PostJson = (post: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}) => Promise<number>;

/** Creates a sender for one webhook. The header `idempotency-key` is the notice's id. */
export function createWebhook(config: WebhookConfig, post: PostJson = postJson): SendNotice {
  return (notice, signal) =>
    withDeadline("the webhook", config.deadlineMs, signal, async (inner) => {
      const headers = { "content-type": "application/json", "idempotency-key": notice.id };
      const status = await post({
        url: config.url.reveal(),
        headers,
        body: noticeBody(notice),
        signal: inner,
      });
      if (status >= 200 && status < 300) return;
      throw new WebhookError({ code: "webhook-refused", status }, `the webhook answered HTTP ${status}`);
    });
}

const postJson: PostJson = async ({ url, headers, body, signal }) => {
  const answer = await request(url, { method: "POST", headers, body, signal });
  await answer.body.dump({ limit: 65_536, signal });
  return answer.statusCode;
};
