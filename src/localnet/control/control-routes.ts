import { MsgSend } from "../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { TYPE_URL } from "../../cosmos/proto/registry.ts";
import { fromHex, sha256, upperHex, utf8 } from "../../platform/base/bytes.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { isRecord, JsonField } from "../../platform/base/json.ts";
import { isoTime } from "../../platform/base/time.ts";
import { parseDurationMs } from "../../platform/config/setting-texts.ts";
import { errorReply, type HttpReply, jsonReply, type RouteRequest } from "../../platform/http/http-route.ts";
import { type ApiRoute, type RouteDefinition, serveRoute } from "../../platform/http/route-about.ts";
import { MempoolError, NodeError } from "../node/base/errors.ts";
import type { NodeView } from "../node/base/node-view.ts";
import { testValidatorSeed } from "../node/consensus/validators.ts";
import type { RunningNode } from "../node/create-node.ts";
import { type ChainProfile, UnknownAccountError } from "../accounts/chains.ts";
import { createLocalAccount, type LocalAccount, LocalAccountError } from "../accounts/local-account.ts";
import { type ChainClock, mineBlocks } from "./chain-clock.ts";
import { CHAIN_API } from "./control-api.ts";
import { createSnapshots, type LocalnetSnapshots } from "./snapshots.ts";

/** A chain that the API controls. `ready` resolves with the chain's node once the node has started. */
export interface ControlledChain {
  readonly profile: ChainProfile;
  readonly ready: Promise<RunningNode>;
}

/** Thrown for an invalid request body. The response has the error code `bad-order`. */
class InvalidBodyError extends Error {}

/** Maximum number of blocks per request. The limit keeps a request short, because a chain makes its manual blocks without pauses. */
const MAX_BLOCKS = 1_000;

const MAX_ADDRESSES = 10_000;

/** Creates the routes in {@link CHAIN_API}. `home` is the parent directory of the chains' homes, or undefined for in-memory chains. */
export function controlRoutes(
  chains: readonly ControlledChain[],
  clock: ChainClock,
  home?: string,
): readonly ApiRoute[] {
  const faucets = new Map(chains.map((chain) => [chain.profile.chainId, createFaucet(chain.profile)]));
  const command = (
    definition: RouteDefinition,
    run: (node: RunningNode, body: JsonField, faucet: Faucet) => CommandResult,
  ): ApiRoute =>
    serveRoute(definition, async (request) => {
      const id = request.params["chain"] ?? "";
      const chain = chains.find((one) => one.profile.chainId === id);
      const faucet = faucets.get(id);
      if (chain === undefined || faucet === undefined) {
        return errorReply(404, "no-such-chain", `unknown chain ${id.slice(0, 50)}`);
      }
      return reply(async () => run(await chain.ready, readBody(request), faucet));
    });
  return [
    serveRoute(CHAIN_API.chains, async () =>
      jsonReply(200, { chains: await Promise.all(chains.map(describe)) }),
    ),
    command(CHAIN_API.halt, ({ control }) => {
      control.halt();
      return { halted: true };
    }),
    command(CHAIN_API.resume, ({ control }) => {
      control.resume();
      return { halted: false };
    }),
    command(CHAIN_API.produce, ({ control }, body) => ({
      height: control.produce(integer(body.member("count"), 1, MAX_BLOCKS)),
    })),
    command(CHAIN_API.absent, ({ control }, body) => {
      control.setAbsent(addresses(body.member("validators")));
      return { absent: control.absent() };
    }),
    command(CHAIN_API.doubleSign, ({ control }, body) => {
      const accused = addressOf(body.member("validator"));
      control.reportDoubleSign(accused);
      return { accused: upperHex(accused) };
    }),
    command(CHAIN_API.validators, ({ control, genesis }, body) => {
      const address = control.setValidator(seedOf(genesis.chainId, body), wholeNumber(body.member("power")));
      return { address: upperHex(address) };
    }),
    command(CHAIN_API.faucet, ({ view }, body, faucet) =>
      faucet.send(view, text(body.member("address")), wholeNumber(body.member("amount"))),
    ),
    ...timeRoutes(chains, clock, home),
  ];
}

function timeRoutes(
  chains: readonly ControlledChain[],
  clock: ChainClock,
  home: string | undefined,
): readonly ApiRoute[] {
  const snapshots = async (): Promise<LocalnetSnapshots> =>
    createSnapshots(await Promise.all(chains.map(({ ready }) => ready)), clock, home);
  const time = () => ({ time: isoTime(clock.nowMs()), rate: clock.rate() });
  let isMining = false;
  const command = (definition: RouteDefinition, run: (body: JsonField) => CommandResult): ApiRoute =>
    serveRoute(definition, async (request) =>
      reply(() => {
        if (chains.length < 2)
          throw new NodeError(
            { code: "bad-time" },
            "the other chain runs in another process with its own clock; start both chains in one process",
          );
        if (isMining) throw new NodeError({ code: "bad-time" }, "blocks are being made; try again later");
        return run(readBody(request));
      }),
    );
  return [
    serveRoute(CHAIN_API.time, () => jsonReply(200, time())),
    command(CHAIN_API.setTime, (body) => {
      const [add, to, rate] = ["add", "set", "rate"].map((name) => body.member(name));
      if (add?.isPresent()) clock.set(clock.nowMs() + duration(add));
      if (to?.isPresent()) clock.set(instant(to));
      if (rate?.isPresent()) clock.setRate(fraction(rate));
      return time();
    }),
    command(CHAIN_API.mine, async (body) => {
      const count = integer(body.member("count"), 1, MAX_BLOCKS);
      const interval = body.member("interval");
      const everyMs = interval.isPresent() ? duration(interval) : 0;
      isMining = true;
      try {
        await mineBlocks(await Promise.all(chains.map(({ ready }) => ready)), clock, { count, everyMs });
      } finally {
        isMining = false;
      }
      return { ...time(), chains: await Promise.all(chains.map(describe)) };
    }),
    serveRoute(CHAIN_API.snapshots, async () => jsonReply(200, { snapshots: (await snapshots()).list() })),
    command(CHAIN_API.takeSnapshot, async () => ({ ...(await snapshots()).take() })),
    command(CHAIN_API.removeSnapshot, async (body) => {
      const known = await snapshots();
      known.remove(snapshotId(body));
      return { snapshots: known.list() };
    }),
    command(CHAIN_API.revert, async (body) => ({ ...(await snapshots()).revert(snapshotId(body)) })),
  ];
}

type ReplyBody = Readonly<Record<string, unknown>>;
type CommandResult = ReplyBody | Promise<ReplyBody>;

async function describe({ profile, ready }: ControlledChain): Promise<ReplyBody> {
  const { view, control } = await ready;
  const { latestHeight } = view.status();
  return {
    chain_id: profile.chainId,
    prefix: profile.bech32Prefix,
    height: latestHeight,
    halted: control.isHalted(),
    absent: control.absent(),
    validators: (view.validators(latestHeight + 1n)?.validators ?? []).map((one) => ({
      address: upperHex(one.address),
      power: one.power,
    })),
  };
}

/** Responds with 400 to an invalid body, and with 409 if the chain rejects the command. Any other error is a bug and is rethrown. */
async function reply(run: () => CommandResult): Promise<HttpReply> {
  try {
    return jsonReply(200, await run());
  } catch (error) {
    if (error instanceof InvalidBodyError) return errorReply(400, "bad-order", error.message);
    if (
      error instanceof NodeError ||
      error instanceof MempoolError ||
      error instanceof FaucetError ||
      error instanceof LocalAccountError ||
      error instanceof UnknownAccountError
    ) {
      return errorReply(409, error.facts.code, error.message);
    }
    throw error;
  }
}

/** Parses a request's JSON body, which must be an object. An empty body is treated as `{}`. */
function readBody(request: RouteRequest): JsonField {
  const error = (path: string, expected: string): Error =>
    new InvalidBodyError(`${path}: expected ${expected}`);
  if (request.body.length === 0) return new JsonField({}, "", error);
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(request.body));
    if (isRecord(value)) return new JsonField(value, "", error);
  } catch {
    // Invalid JSON causes the same error as JSON that is not an object.
  }
  throw new InvalidBodyError("the body must be a JSON object");
}

/** Returns the field's integer, which must be between `least` and `most` (inclusive). Returns `least` if the field is missing. */
function integer(field: JsonField, least: number, most: number): number {
  const value = field.value ?? least;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw field.error(field.path, `an integer from ${least} to ${most}`);
}

function snapshotId(body: JsonField): number {
  const field = body.member("id");
  if (!field.isPresent()) throw field.error(field.path, "a snapshot number");
  return integer(field, 1, Number.MAX_SAFE_INTEGER);
}

function duration(field: JsonField): number {
  const ms = parseDurationMs(text(field));
  if (ms === undefined) throw field.error(field.path, 'a duration of at most 366 days, e.g. "21d"');
  return ms;
}

/** Reads an ISO 8601 time in UTC, and returns ms since the Unix epoch. */
function instant(field: JsonField): number {
  const timeMs = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text(field)) ? Date.parse(text(field)) : Number.NaN;
  if (Number.isNaN(timeMs)) throw field.error(field.path, 'a time in UTC, e.g. "2027-01-31T23:59:00Z"');
  return timeMs;
}

function fraction(field: JsonField): number {
  if (typeof field.value === "number") return field.value;
  throw field.error(field.path, "a number");
}

function text(field: JsonField): string {
  if (!field.isPresent() || field.asText().length > 200) throw field.error(field.path, "a string");
  return field.asText();
}

function wholeNumber(field: JsonField): bigint {
  const value = text(field);
  if (!/^\d{1,18}$/.test(value)) throw field.error(field.path, "an integer in quotes");
  return BigInt(value);
}

function addresses(field: JsonField): readonly Uint8Array[] {
  // Require the field, because `elements` returns an empty list for a missing field, which would mark all validators as present.
  const list = field.isPresent() ? field.elements() : undefined;
  if (list === undefined || list.length > MAX_ADDRESSES) throw field.error(field.path, "a list of addresses");
  return list.map(addressOf);
}

function addressOf(field: JsonField): Uint8Array {
  if (field.isPresent() && /^[0-9a-fA-F]{40}$/.test(field.asText())) return fromHex(field.asText());
  throw field.error(field.path, "an address of 40 hex digits");
}

/**
 * Returns the seed of a validator's key. The body has either `seed`, as 64 hex digits or as any other text to hash, or the `index`
 * of a test validator.
 */
function seedOf(chainId: string, body: JsonField): Uint8Array {
  const field = body.member("seed");
  if (!field.isPresent()) return testValidatorSeed(chainId, integer(body.member("index"), 0, 10_000));
  const seed = text(field);
  return /^[0-9a-fA-F]{64}$/.test(seed) ? fromHex(seed) : sha256(utf8(seed));
}

/** Thrown if CheckTx rejects the faucet's transaction. */
class FaucetError extends CodedError<{
  readonly code: "faucet-refused";
  readonly abciCode: number;
  readonly codespace: string;
}> {}

type Faucet = ReturnType<typeof createFaucet>;

const GAS_LIMIT = 300_000n;
const FEE_AMOUNT = 10_000n;

/** Creates a chain's faucet, which sends coins from the public test account `faucet`. */
export function createFaucet(chain: ChainProfile) {
  // Open the account on the first request, because a custom chain without this account has no faucet.
  let account: LocalAccount | undefined;
  const fee = { denom: chain.denom, amount: FEE_AMOUNT };
  return {
    /**
     * Sends an amount of the chain's denomination. Resolves once the transaction is in the mempool, before a block includes it.
     * Rejects with {@link FaucetError}, `LocalAccountError` or `MempoolError`.
     */
    send: async (
      view: NodeView,
      address: string,
      amount: bigint,
    ): Promise<Readonly<Record<string, unknown>>> => {
      account ??= createLocalAccount(chain, "faucet");
      const value = MsgSend.encode({
        fromAddress: account.address,
        toAddress: address,
        amount: [{ denom: chain.denom, amount: amount.toString() }],
      }).finish();
      const messages = [{ typeUrl: TYPE_URL.send, value }];
      const draft = { messages, memo: "faucet", gasLimit: GAS_LIMIT, fee };
      const { hash, check } = await account.broadcast(view, draft);
      if (check.code !== 0) {
        throw new FaucetError(
          { code: "faucet-refused", abciCode: check.code, codespace: check.codespace },
          `the chain rejected the faucet's transaction: ${check.log}`,
        );
      }
      return { hash: upperHex(hash), amount: `${amount}${chain.denom}` };
    },
  };
}
