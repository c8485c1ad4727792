/** Yields `text` as the body of a response, in one chunk of UTF-8. */
export async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** The error of a connection to a port without a listener. One for all: an error captures a stack, which takes long. */
export const CONNECTION_REFUSED: Error = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), {
  code: "ECONNREFUSED",
});
