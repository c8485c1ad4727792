export interface IbcOptions {
  readonly bech32Prefix: string;
  /** Address that may change params and recover clients, bech32. */
  readonly authority: string;
}
