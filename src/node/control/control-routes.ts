import { fromHex, toHex, utf8 } from "../../base/bytes.ts";
import { isRecord } from "../../base/json.ts";
import { sha256 } from "../../base/sha256.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRequest,
  type HttpRoute,
  jsonReply,
} from "../../ops/http-route.ts";
import { testValidatorSeed } from "../consensus/validator-keys.ts";
import type { RunningNode } from "../create-node.ts";
import { MempoolError, NodeError } from "../errors.ts";
import type { ChainProfile } from "../localnet/chains.ts";
import { type Faucet, FaucetError, createFaucet } from "./faucet.ts";

/** A chain under control; `ready` resolves when it is up. */
export interface ControlledChain {
  readonly profile: ChainProfile;
  readonly ready: Promise<RunningNode>;
}

/** An order that does not make sense. */
class OrderError extends Error {}

const MAX_BLOCKS = 1_000;

/**
 * Routes of the control face. `GET /chains` says how the chains are. With the token, under `/chains/:chain/` (a chain id):
 * `POST halt`, `POST resume`, `POST blocks` `{"count": 1}`, `POST absent` `{"validators": ["<address hex>", …]}`,
 * `POST validators` `{"index": 4, "power": "10"}` (a test validator by number) or `{"seed": "<64 hex>", …}`, `POST faucet`
 * `{"address", "amount"}`.
 */
export function controlRoutes(chains: readonly ControlledChain[]): readonly HttpRoute[] {
  const faucets = new Map(chains.map((chain) => [chain.profile.chainId, createFaucet(chain.profile)]));
  const order = (
    name: string,
    run: (chain: RunningNode, body: Body, faucet: Faucet) => Answer,
  ): HttpRoute => ({
    method: "POST",
    path: `/chains/:chain/${name}`,
    guarded: true,
    handle: async (request) => {
      const id = request.params["chain"] ?? "";
      const chain = chains.find((one) => one.profile.chainId === id);
      const faucet = faucets.get(id);
      if (chain === undefined || faucet === undefined) {
        return errorReply(404, "no-such-chain", `no chain here is called ${id.slice(0, 50)}`);
      }
      return answer(async () => run(await chain.ready, readBody(request), faucet));
    },
  });
  return [
    {
      method: "GET",
      path: "/chains",
      handle: async () => jsonReply(200, { chains: await Promise.all(chains.map(describe)) }),
    },
    order("halt", ({ control }) => {
      control.halt();
      return { halted: true };
    }),
    order("resume", ({ control }) => {
      control.resume();
      return { halted: false };
    }),
    order("blocks", ({ control }, body) => ({
      height: control.produce(integer(body, "count", 1, MAX_BLOCKS)),
    })),
    order("absent", ({ control }, body) => {
      control.setAbsent(addresses(body));
      return { absent: control.absent() };
    }),
    order("validators", ({ control, genesis }, body) => {
      const address = control.setValidator(seedOf(genesis.chainId, body), power(body));
      return { address: toHex(address).toUpperCase() };
    }),
    order("faucet", ({ view }, body, faucet) =>
      faucet.send(view, text(body, "address"), power(body, "amount")),
    ),
  ];
}

type Body = Readonly<Record<string, unknown>>;
type Answer = Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

async function describe({ profile, ready }: ControlledChain): Promise<Readonly<Record<string, unknown>>> {
  const { view, control } = await ready;
  const { latestHeight } = view.status();
  return {
    chain_id: profile.chainId,
    height: latestHeight,
    halted: control.isHalted(),
    absent: control.absent(),
    validators: (view.validators(latestHeight + 1n)?.validators ?? []).map((one) => ({
      address: toHex(one.address).toUpperCase(),
      power: one.power,
    })),
  };
}

async function answer(run: () => Answer): Promise<HttpReply> {
  try {
    return jsonReply(200, await run());
  } catch (error) {
    if (error instanceof OrderError) return errorReply(400, "bad-order", error.message);
    if (error instanceof NodeError || error instanceof MempoolError || error instanceof FaucetError) {
      return errorReply(409, error.facts.code, error.message);
    }
    throw error;
  }
}

function readBody(request: HttpRequest): Body {
  if (request.body.length === 0) return {};
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(request.body));
    if (isRecord(body)) return body;
  } catch {
    // said below
  }
  throw new OrderError("the body must be a JSON object");
}

function integer(body: Body, name: string, least: number, most: number): number {
  const value = body[name] ?? least;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new OrderError(`${name}: a whole number from ${least} to ${most} was expected`);
}

function text(body: Body, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value.length <= 200) return value;
  throw new OrderError(`${name}: a text was expected`);
}

function power(body: Body, name = "power"): bigint {
  const value = text(body, name);
  if (!/^\d{1,18}$/.test(value)) throw new OrderError(`${name}: a whole number in quotes was expected`);
  return BigInt(value);
}

function addresses(body: Body): readonly Uint8Array[] {
  const { validators } = body;
  if (!Array.isArray(validators) || validators.length > 10_000) {
    throw new OrderError("validators: a list of addresses was expected");
  }
  return validators.map((one: unknown) => {
    if (typeof one === "string" && /^[0-9a-fA-F]{40}$/.test(one)) return fromHex(one);
    throw new OrderError("validators: addresses of 40 hex digits were expected");
  });
}

/** The seed of a validator: given whole, or by number for the public test validators. */
function seedOf(chainId: string, body: Body): Uint8Array {
  if (body["seed"] === undefined) return testValidatorSeed(chainId, integer(body, "index", 0, 10_000));
  const seed = text(body, "seed");
  return /^[0-9a-fA-F]{64}$/.test(seed) ? fromHex(seed) : sha256(utf8(seed));
}
