function none(): never {
  throw new Error("this is not used");
}

/** What contracts' queries and messages need of other modules, for a test that uses none of it. */
export const UNUSED_KEEPERS = {
  bank: {
    supply: none,
    balance: none,
    balances: none,
    sendCoins: none,
    burnCoins: none,
    requireSendEnabled: none,
  },
  channels: { channel: none, channelsOfPorts: none, sendPacket: none },
  accounts: { ensureAccount: none },
  findMessage: none,
  smart: { query: none, isDeterministic: () => false },
};
