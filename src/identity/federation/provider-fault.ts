/**
 * `unreachable`: there was no usable response; trying again may help. `refused`: the provider rejected our request.
 * `untrusted`: its response is not valid.
 */
export type ProviderFaultKind = 'unreachable' | 'refused' | 'untrusted'

/** A failure of a provider. The message is for the operator and never contains a code or token. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault'
  readonly kind: ProviderFaultKind

  constructor(kind: ProviderFaultKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export const untrusted = (message: string, options?: ErrorOptions): ProviderFault =>
  new ProviderFault('untrusted', message, options)
