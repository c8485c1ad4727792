import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Packet } from "../../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { escrowAddress, escrows } from "../../../../../src/localnet/chain/modules/transfer/keeper.ts";
import { localDenom, parseTrace } from "../../../../../src/localnet/chain/modules/transfer/denom.ts";
import {
  acknowledgeMessage,
  carryHeader,
  receiveMessage,
  timeoutMessage,
} from "../../../../support/ibc/linked-pair.ts";
import {
  CHANNEL,
  FUNDS,
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../../support/ibc/transfer-pair.ts";

const TIMEOUT_NS = 30_000_000_000n;

/** A packet on its way. `denom`: the coin that the sending chain took. */
interface Flight {
  readonly from: TransferChain;
  readonly to: TransferChain;
  readonly packet: Packet;
  readonly native: TransferChain;
  readonly amount: bigint;
}

const command = fc.record({
  fromFirst: fc.boolean(),
  native: fc.boolean(),
  amount: fc.bigInt({ min: 1n, max: 2_000_000n }),
  sender: fc.nat(2),
  receiver: fc.nat(3),
  outcome: fc.constantFrom("relay", "twice", "time out", "leave", "leave"),
  // Which of the packets that were left is carried first, if there are so many.
  late: fc.nat(4),
});

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Packets that are left, each of which the next command carries first: chance alone may bring too few of them. */
const LEFT: readonly Command[] = Array.from({ length: 8 }, (_, index) => ({
  fromFirst: index % 2 === 0,
  native: true,
  amount: 1_000n,
  sender: 0,
  receiver: 1,
  outcome: "leave",
  late: 0,
}));

/** The denomination of a chain's coin on the other one. */
function voucherOf(chain: TransferChain): string {
  return localDenom(parseTrace(`transfer/channel-0/${chain.denom}`));
}

function send(
  { fromFirst, native, amount, sender, receiver }: Command,
  [a, b]: readonly [TransferChain, TransferChain],
) {
  const [from, to] = fromFirst ? [a, b] : [b, a];
  const denom = native ? from.denom : voucherOf(to);
  // The fourth receiver does not exist: the packet is refused and the coin comes back.
  const address = receiver < 3 ? to.address(receiver) : "nobody";
  const result = from.deliver(
    from.transfer({ from: sender, receiver: address, amount, denom, timeoutNs: TIMEOUT_NS }),
  );
  if (result.code !== 0) return undefined;
  return { from, to, packet: sentPacket(result), native: native ? from : to, amount };
}

function relay({ from, to, packet }: Flight, times: number): void {
  carryHeader(to, from);
  expect(from.deliver(timeoutMessage(to, from, packet)).code).toBe(39);
  carryHeader(from, to);
  const message = receiveMessage(from, to, packet);
  const received = to.deliver(message);
  expect(received.log).toBe("");
  for (let again = 1; again < times; again++) to.deliver(message);
  carryHeader(to, from);
  const acknowledge = acknowledgeMessage(to, from, packet, writtenAcknowledgement(received));
  for (let time = 0; time < times; time++) expect(from.deliver(acknowledge).log).toBe("");
}

function timeOut({ from, to, packet }: Flight): void {
  for (const chain of [from, to]) chain.block(60n);
  carryHeader(to, from);
  carryHeader(from, to);
  expect(to.deliver(receiveMessage(from, to, packet)).code).toBe(40);
  // The second one finds nothing to take back.
  for (let time = 0; time < 2; time++) expect(from.deliver(timeoutMessage(to, from, packet)).log).toBe("");
}

/** Carries a packet that was left: it is received and acknowledged, or it is too late and comes back. */
function settleLate(flight: Flight): void {
  const { from, to, packet } = flight;
  carryHeader(from, to);
  const received = to.deliver(receiveMessage(from, to, packet));
  if (received.code === 40) return timeOut(flight);
  expect(received.log).toBe("");
  carryHeader(to, from);
  const acknowledge = acknowledgeMessage(to, from, packet, writtenAcknowledgement(received));
  expect(from.deliver(acknowledge).log).toBe("");
}

/** What is in escrow on the home chain of a coin are its vouchers on the other chain and what is on its way. */
function checkCoins(home: TransferChain, away: TransferChain, flights: readonly Flight[]): void {
  const inEscrow = home.bank.balance(home.context(), escrowAddress(CHANNEL), home.denom).amount;
  const inFlight = flights
    .filter(({ native }) => native === home)
    .reduce((sum, { amount }) => sum + amount, 0n);
  expect(inEscrow).toBe(away.bank.supply(away.context(), voucherOf(home)) + inFlight);
  expect(escrows.get(home.context(), home.denom) ?? 0n).toBe(inEscrow);
  expect(home.bank.supply(home.context(), home.denom)).toBe(FUNDS * 3n);
  // What the accounts have is all that there is: no coin is in two places, and none is in no place.
  expect(sumOf(home, home.denom) + inEscrow).toBe(FUNDS * 3n);
  expect(sumOf(away, voucherOf(home))).toBe(away.bank.supply(away.context(), voucherOf(home)));
}

function sumOf({ bank, context, accounts }: TransferChain, denom: string): bigint {
  return accounts.reduce((sum, account) => sum + bank.balance(context(), account, denom).amount, 0n);
}

describe("transfers, timeouts and refunds in any order", () => {
  it("conserve the coins of both chains", () => {
    let transfers = 0;
    let late = 0;
    fc.assert(
      fc.property(fc.array(command, { minLength: 6, maxLength: 14 }), (commands) => {
        const { a, b } = openTransferPair();
        const left: Flight[] = [];
        for (const each of commands) {
          for (const flight of left.splice(each.late, 1)) {
            settleLate(flight);
            late += 1;
            checkCoins(a, b, left);
            checkCoins(b, a, left);
          }
          const flight = send(each, [a, b]);
          if (flight === undefined) continue;
          transfers += 1;
          if (each.outcome === "leave") left.push(flight);
          else if (each.outcome === "time out") timeOut(flight);
          else relay(flight, each.outcome === "twice" ? 2 : 1);
          checkCoins(a, b, left);
          checkCoins(b, a, left);
        }
        while (left.length > 0) {
          for (const flight of left.splice(-1)) settleLate(flight);
          checkCoins(a, b, left);
        }
        checkCoins(a, b, []);
        checkCoins(b, a, []);
      }),
      { numRuns: 12, examples: [[[...LEFT]]] },
    );
    expect(transfers).toBeGreaterThan(20);
    expect(late).toBeGreaterThan(3);
  }, 120_000);
});
