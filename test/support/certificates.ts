import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";

/** Certificate and key in PEM. */
export interface KeyPair {
  readonly certificate: string;
  /** PKCS #8, not encrypted. */
  readonly key: string;
}

/** An authority that signs certificates, by the system's openssl. */
export class Authority implements Disposable {
  readonly certificate: string;
  readonly #folder = temporaryFolder();
  #count = 0;

  constructor(name: string) {
    const own = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${name}`];
    openssl([...own, "-keyout", this.#path("ca.key"), "-out", this.#path("ca.pem")]);
    this.certificate = this.#read("ca.pem");
  }

  /** @param names of the subject: "DNS:localhost", "IP:127.0.0.1" */
  sign(commonName: string, names: readonly string[] = []): KeyPair {
    const base = `${this.#count++}`;
    const request = ["req", "-newkey", "rsa:2048", "-nodes", "-subj", `/CN=${commonName}`];
    openssl([...request, "-keyout", this.#path(`${base}.key`), "-out", this.#path(`${base}.csr`)]);
    writeFileSync(this.#path(`${base}.ext`), names.length === 0 ? "" : `subjectAltName=${names.join(",")}\n`);
    const files = ["-in", this.#path(`${base}.csr`), "-out", this.#path(`${base}.pem`)];
    const signer = ["-CA", this.#path("ca.pem"), "-CAkey", this.#path("ca.key"), "-CAcreateserial", "-days", "2"];
    openssl(["x509", "-req", ...files, ...signer, "-extfile", this.#path(`${base}.ext`)]);
    return { certificate: this.#read(`${base}.pem`), key: this.#read(`${base}.key`) };
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }

  #path(name: string): string {
    return join(this.#folder.path, name);
  }

  #read(name: string): string {
    return readFileSync(this.#path(name), "utf8");
  }
}

/** The key, encrypted. */
export function encryptKey(key: string, passphrase: string): string {
  return execFileSync("openssl", ["pkcs8", "-topk8", "-v2", "aes256", "-passout", `pass:${passphrase}`], {
    input: key,
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
  });
}

function openssl(options: readonly string[]): void {
  execFileSync("openssl", options, { stdio: "pipe" });
}
