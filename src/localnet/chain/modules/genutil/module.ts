import type { ChainNames, ChainModule, DeliverGenesisTx } from "../../runtime/context.ts";
import type { StakingKeeper } from "../staking/keeper.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { AuthInfo, Tx, TxBody, TxRaw } from "../../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { isRecord, type JsonValue } from "../../../../platform/base/json.ts";
import { atPath, GenesisError } from "../../runtime/genesis.ts";

/** Name of the module and its key in `app_state`. The module has no store. */
const MODULE_NAME = "genutil";
const PATH = `app_state.${MODULE_NAME}`;

/**
 * Creates the `genutil` module, which runs the transactions in the genesis document. The transactions create a chain's first
 * validators. Genesis transactions run after all modules' InitGenesis, without a fee or gas limit.
 */
export function createGenutilModule(
  { chainName }: Pick<ChainNames, "chainName">,
  { updateValidatorSet }: Pick<StakingKeeper, "updateValidatorSet">,
): ChainModule {
  return {
    name: MODULE_NAME,
    stores: [],
    messages: [],
    queries: [],
    initGenesis: (_context, json) => {
      genesisTxs(json);
    },
    genesisTxs: (context, json, deliver) => {
      const txs = genesisTxs(json);
      txs.forEach((tx, index) => deliverTx(tx, index, chainName, deliver));
      if (txs.length > 0) updateValidatorSet(context);
    },
    exportGenesis: () => ({ gen_txs: [] }),
  };
}

/** Returns the genesis transactions as unparsed JSON values. Throws `GenesisError` if the module's genesis is malformed. */
function genesisTxs(json: JsonValue | undefined): readonly unknown[] {
  if (json === undefined) return [];
  if (!isRecord(json)) throw new GenesisError(PATH, "expected an object");
  const { gen_txs: txs = null, ...others } = json;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new GenesisError(`${PATH}.${unknown}`, "no such field (known: gen_txs)");
  if (txs === null) return [];
  if (!Array.isArray(txs)) throw new GenesisError(`${PATH}.gen_txs`, "expected a list");
  return txs;
}

function deliverTx(json: unknown, index: number, chainName: string, deliver: DeliverGenesisTx): void {
  const path = `${PATH}.gen_txs[${index}]`;
  const bytes = atPath(path, () => encodeTx(json, chainName));
  const { code, log } = deliver(bytes);
  if (code !== 0) throw new GenesisError(path, log);
}

/** Encodes a JSON transaction to protobuf. The result equals the bytes that were signed, because the SDK signs a deterministic encoding. */
function encodeTx(json: unknown, chainName: string): Uint8Array {
  const { body, authInfo, signatures } = Tx.decode(messageFromJson("cosmos.tx.v1beta1.Tx", json, chainName));
  if (body === undefined || authInfo === undefined) throw new Error("expected body and auth_info");
  return TxRaw.encode({
    bodyBytes: TxBody.encode(body).finish(),
    authInfoBytes: AuthInfo.encode(authInfo).finish(),
    signatures,
  }).finish();
}
