/**
 * `unreachable`: no usable answer, trying again may help. `refused`: the provider said no to us. `untrusted`: it said
 * something that cannot be believed.
 */
export type ProviderFaultKind = 'unreachable' | 'refused' | 'untrusted'

/** Why a provider did not help. The message is for the operator: it names what was wrong, never a code or token. */
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
