import { decodeBech32, toBase64 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { JsonField } from "../../platform/base/json.ts";
import type { Rest } from "./chain-rest.ts";
import type { Seen, ValidatorView } from "./observation.ts";
import type { Scrape } from "./page-reader.ts";
import { createPeersReader } from "./peers-reader.ts";
import { createCommitTracker, type Member } from "./shared-misses.ts";
import { createSlashingReader } from "./slashing-reader.ts";
import type { PeersView } from "./standing-views.ts";
import type { ChainTarget, ValidatorTarget } from "./targets.ts";

const VALIDATORS = "/cosmos/base/tendermint/v1beta1/validatorsets";
/** Validators per page: CometBFT never returns more than this. */
const PAGE = 100;
const MAX_PAGES = 10;

/** The part of the latest block that shows who signed it. */
interface SignedBlock {
  readonly height: bigint;
  /** Base64 addresses of the validators that signed the previous block. Absent if unknown. */
  readonly signers?: ReadonlySet<string>;
}

/**
 * Creates a reader of a validator's standing: its signing window, its place in the set, and the other validators in the set.
 * Undefined if the validator has no consensus address.
 */
export function createStandingReader(
  target: ValidatorTarget,
  chain: ChainTarget,
  { rest, scrape, clock }: { readonly rest: Rest; readonly scrape: Scrape; readonly clock: Clock },
) {
  const { consensusAddress } = target;
  if (consensusAddress === undefined) return undefined;
  const own = { ...target, consensusAddress };
  const slashing = createSlashingReader(own, chain, rest, clock);
  const peers = createPeersReader(own, chain, rest, clock);
  const viewOf = createSetView(consensusAddress);
  let set: ReadonlySet<string> | undefined;
  const readSet = async (block: SignedBlock | undefined, signal: AbortSignal): Promise<ValidatorView> => {
    const members = await readMembers(rest, signal);
    set = new Set(members.map(({ address }) => address));
    return viewOf(members, block);
  };
  return {
    slashing: (signal: AbortSignal) => scrape("the slashing module", signal, slashing),
    /**
     * `block` is the latest block; undefined if it cannot be read. The other validators come from the previous call's set, so that
     * no poll waits for both reads. The first call does not read them.
     */
    inSet: async (
      block: SignedBlock | undefined,
      signal: AbortSignal,
    ): Promise<{ readonly validator: Seen<ValidatorView>; readonly peers?: Seen<PeersView> }> => {
      const known = set;
      const [validator, others] = await Promise.all([
        scrape("the validator set", signal, (inner) => readSet(block, inner)),
        known && scrape("the other validators", signal, (inner) => peers(known, inner)),
      ]);
      return { validator, ...(others === undefined ? {} : { peers: others }) };
    },
  };
}

/** Creates a function that finds the validator in each reading of the set, and which others missed the commits it missed. */
function createSetView(
  address: string,
): (members: readonly Member[], block: SignedBlock | undefined) => ValidatorView {
  const track = createCommitTracker(address);
  /** Base64 addresses, as in commits, by bech32 address. */
  let keys: ReadonlyMap<string, string> = new Map();
  return (members, block) => {
    const own = members.find((one) => one.address === address);
    const view = { size: members.length, isInSet: own !== undefined, votingPower: own?.votingPower ?? 0n };
    if (own === undefined || block?.signers === undefined) return view;
    const { height, signers } = block;
    // Decoding all addresses of a set takes longer than the rest of a poll, and the set rarely changes.
    keys = new Map(
      members.map((one) => [one.address, keys.get(one.address) ?? toBase64(decodeBech32(one.address).bytes)]),
    );
    const missing = new Set([...keys].flatMap(([member, signer]) => (signers.has(signer) ? [] : [member])));
    return { ...view, signedLatest: !missing.has(address), commits: track({ height, missing }, members) };
  };
}

/** Reads the latest set page by page, with all pages at one height. */
async function readMembers(rest: Rest, signal: AbortSignal): Promise<readonly Member[]> {
  const members: Member[] = [];
  let set = "latest";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = `pagination.limit=${PAGE}${page === 0 ? "" : `&pagination.offset=${page * PAGE}`}`;
    const root = await rest.get(`${VALIDATORS}/${set}?${query}`, signal);
    const found = root.member("validators").required().elements().map(toMember);
    members.push(...found);
    const total = root.member("pagination").orEmpty().member("total").asInt64();
    if (BigInt(members.length) >= total) return members;
    // With only part of the set, the other validators would appear not to be in it.
    if (found.length === 0 || page + 1 === MAX_PAGES)
      throw root.error("validators", `all ${total} of the set, of which ${members.length} were received`);
    set = root.member("block_height").required().asHeight().toString();
  }
  return members;
}

function toMember(validator: JsonField): Member {
  const address = validator.member("address").required();
  if (!BECH32.test(address.asText())) throw address.error(address.path, "a bech32 address");
  return { address: address.asText(), votingPower: validator.member("voting_power").asInt64() };
}

const BECH32 = /^[a-z0-9]{1,60}1[a-z0-9]{6,90}$/;
