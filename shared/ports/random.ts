/** Chance, as a port. */
export interface Random {
  /** A fresh name part: at least 80 random bits in lower-case letters and digits. */
  nonce(): string;
}
