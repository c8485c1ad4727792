//! A contract that asks for a value of the other chain and counts the proven results. See docs/contracts.md.

use cosmwasm_std::{
    entry_point, to_json_binary, Binary, CosmosMsg, CustomMsg, Deps, DepsMut, Env, MessageInfo, Response,
    StdError, StdResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The chain's own messages, as far as this contract sends them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChainMsg {
    RegisterInterchainQuery {
        query_type: String,
        keys: Vec<KvKey>,
        transactions_filter: String,
        connection_id: String,
        update_period: u64,
    },
}

impl CustomMsg for ChainMsg {}

/// A key in a store of the other chain.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, JsonSchema)]
pub struct KvKey {
    pub path: String,
    pub key: Binary,
}

#[derive(Deserialize)]
pub struct InstantiateMsg {}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecuteMsg {
    /// Registers the query. The funds of the call are its deposit.
    Watch { path: String, key: Binary },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryMsg {
    Results {},
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SudoMsg {
    /// The chain calls it after it has verified the proofs of a result.
    KvQueryResult { query_id: u64 },
}

const RESULTS: &[u8] = b"results";

#[entry_point]
pub fn instantiate(_: DepsMut, _: Env, _: MessageInfo, _: InstantiateMsg) -> StdResult<Response<ChainMsg>> {
    Ok(Response::new())
}

#[entry_point]
pub fn execute(_: DepsMut, _: Env, _: MessageInfo, msg: ExecuteMsg) -> StdResult<Response<ChainMsg>> {
    let ExecuteMsg::Watch { path, key } = msg;
    let registration = ChainMsg::RegisterInterchainQuery {
        query_type: "kv".into(),
        keys: vec![KvKey { path, key }],
        transactions_filter: String::new(),
        connection_id: "connection-0".into(),
        update_period: 2,
    };
    Ok(Response::new().add_message(CosmosMsg::Custom(registration)))
}

#[entry_point]
pub fn sudo(deps: DepsMut, _: Env, msg: SudoMsg) -> StdResult<Response<ChainMsg>> {
    let SudoMsg::KvQueryResult { query_id } = msg;
    let results = count(deps.storage.get(RESULTS))? + 1;
    deps.storage.set(RESULTS, results.to_string().as_bytes());
    Ok(Response::new().add_attribute("query_id", query_id.to_string()))
}

#[entry_point]
pub fn query(deps: Deps, _: Env, msg: QueryMsg) -> StdResult<Binary> {
    let QueryMsg::Results {} = msg;
    to_json_binary(&count(deps.storage.get(RESULTS))?)
}

fn count(stored: Option<Vec<u8>>) -> StdResult<u64> {
    let Some(bytes) = stored else { return Ok(0) };
    let text = String::from_utf8(bytes).map_err(|_| StdError::generic_err("not a number"))?;
    text.parse().map_err(|_| StdError::generic_err("not a number"))
}
