/** Names of the DOMExceptions that the host itself gives. */
export type CryptoFailureName = 'DataError' | 'NotSupportedError' | 'OperationError'

/** Why an operation was refused, as site code catches it. */
export class CryptoFailure extends Error {
  readonly kind: CryptoFailureName

  constructor(kind: CryptoFailureName, message: string) {
    super(message)
    this.kind = kind
  }

  /** How it crosses into the isolate: other answers in text never begin like that. */
  get text(): string {
    return `!${this.kind}:${this.message}`
  }
}

/** Runs what throws errors of OpenSSL, which say nothing to a site. */
export function orFail<Result>(
  kind: CryptoFailureName,
  message: string,
  work: () => Result,
): Result {
  try {
    return work()
  } catch (error) {
    throw error instanceof CryptoFailure ? error : new CryptoFailure(kind, message)
  }
}
