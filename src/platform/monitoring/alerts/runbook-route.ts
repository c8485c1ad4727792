import { errorReply, type HttpRoute } from "../../http/http-route.ts";

/** Path of a daemon's own copy of a runbook, relative to the root of its page. */
export function runbookPath(name: string): string {
  return `runbooks/${name}.md`;
}

/** Creates `GET /runbooks/NAME.md`: runbooks as text, so that links to them work without another server. */
export function runbookRoute(texts: ReadonlyMap<string, () => string>): HttpRoute {
  return {
    method: "GET",
    path: "/runbooks/:file",
    handle: ({ params }) => {
      const text = texts.get(params["file"]?.replace(/\.md$/, "") ?? "");
      if (text === undefined) {
        const known = [...texts.keys()].map((name) => `${name}.md`).join(", ");
        return errorReply(404, "no-such-runbook", `there is no such runbook; known: ${known}`);
      }
      return {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
        body: `${text()}\n`,
      };
    },
  };
}

/** Replaces the templates of Prometheus in a description by words. */
export function withoutTemplates(description: string): string {
  return description
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "`$1`")
    .replaceAll(/\{\{ \$value[^}]*\}\}/g, "…");
}
