/** Names of an alert outside the watchdog's table: "relayer-dead-letters" is "IcqRelayerDeadLetters". */
export function alertNameOf(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Relayer" ? `Icq${words.join("")}` : words.join("");
}
