import { Command } from "commander";
import { errorText, EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, stringifyJson } from "../../platform/base/json.ts";
import { openPreview, servedQueries } from "../preview/open-preview.ts";
import { previewKv } from "../preview/preview-kv.ts";
import { previewTx } from "../preview/preview-tx.ts";
import { CheckExit } from "../../platform/cli/check-exit.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { kvPreviewJson, txPreviewJson } from "./preview-json.ts";
import { printAnswer } from "../../platform/cli/print-answer.ts";
import { queryIdArgument } from "../../platform/cli/query-id.ts";
import { addRelayerApiOptions, readRelayer, type RelayerApiOptions } from "./relayer-api-options.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";

interface Options extends RelayerApiOptions, RelayerConfigOptions {}

/** `relaywatch relayer inspect ID`. */
export function inspectCommand(context: CliContext): Command {
  return addRelayerConfigOptions(addRelayerApiOptions(new Command()))
    .addArgument(queryIdArgument())
    .addHelpText(
      "after",
      `
"state" and "attempts" are those of the running relayer (--url). "proof" is made now from the configuration, and not sent.
Exits 1 when there is neither a state nor a proof.`,
    )
    .action((id: bigint, options: Options) => inspect(id, options, context));
}

async function inspect(id: bigint, options: Options, context: CliContext): Promise<void> {
  const [state, attempts, proof] = await Promise.all([
    part(() => readRelayer(options, `/api/queries/${id}`, context.signal), context.signal),
    part(() => readRelayer(options, `/api/attempts?query_id=${id}&limit=10`, context.signal), context.signal),
    part(() => prove(id, options, context), context.signal),
  ]);
  const answer = { id: `${id}`, state, attempts, proof };
  if (options.json) context.print(stringifyJson(answer, 2));
  else printAnswer(JSON.parse(stringifyJson(answer)), {}, context);
  if (isFailed(state) && isFailed(proof)) throw new CheckExit(EXIT.fatal);
}

function isFailed(answer: unknown): boolean {
  return isRecord(answer) && "error" in answer && Object.keys(answer).length === 1;
}

/** A part that cannot be read says why, so that the others are still shown. */
async function part(read: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    signal.throwIfAborted();
    return { error: errorText(error) };
  }
}

async function prove(id: bigint, options: Options, context: CliContext): Promise<JsonObject> {
  const selected = await selectRelayerConfig(options, context);
  const preview = await openPreview(selected.config, await relayerContext(selected, "error", context));
  try {
    for (const connection of preview.connections) {
      const [query] = await servedQueries(preview, connection.id, [id], context.signal);
      if (query?.type === "tx")
        return txPreviewJson(await previewTx(preview, connection, query, context.signal));
      const [kv] = query === undefined ? [] : await previewKv(preview, connection, [query], context.signal);
      if (kv !== undefined) return kvPreviewJson(kv);
    }
    return { error: "the configuration does not serve this query: see its connections, owners and ids" };
  } finally {
    preview.close();
  }
}
