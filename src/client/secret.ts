/** What the client needs of a secret: the text for the moment of use. The type that holds it must print as redacted (`ops/secret.ts`). */
export interface Secret {
  readonly reveal: () => string;
}
