import { errorReply, type HttpRoute } from "../../http/http-route.ts";
import { readWrittenPart, type RunbookHead, runbookHead } from "./runbook-file.ts";

/** Path of a daemon's own copy of a runbook, relative to the root of its page. */
export function runbookPath(name: string): string {
  return `runbooks/${name}.md`;
}

/** What a daemon says about an alert around the written part of its runbook. */
export interface ServedRunbook extends RunbookHead {
  /** When the alert fires. Absent: the daemon does not evaluate it itself. */
  readonly rule?: string;
}

/** Creates `GET /runbooks/NAME.md`: runbooks as text, so that links to them work without another server. */
export function runbookRoute(runbooks: ReadonlyMap<string, ServedRunbook>): HttpRoute {
  return {
    method: "GET",
    path: "/runbooks/:file",
    handle: async ({ params }) => {
      const name = params["file"]?.replace(/\.md$/, "") ?? "";
      const runbook = runbooks.get(name);
      if (runbook === undefined) {
        const known = [...runbooks.keys()].map((one) => `${one}.md`).join(", ");
        return errorReply(404, "no-such-runbook", `there is no such runbook; known: ${known}`);
      }
      const parts = [runbookHead(runbook), await readWrittenPart(name)];
      if (runbook.rule !== undefined) parts.push("## Rule", runbook.rule);
      return {
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
        body: `${parts.join("\n\n")}\n`,
      };
    },
  };
}
