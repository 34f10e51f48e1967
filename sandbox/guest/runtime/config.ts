import type { OperationSchemas } from '#sandbox/protocol/compiled-schema.ts'

/** What the host tells a context when it boots. */
export interface BootConfig {
  readonly site: { readonly siteId: string; readonly siteDomain: string }
  readonly env: Readonly<Record<string, string>>
  readonly handler: string
  readonly entry: string
  readonly resultBytes: number
  readonly logLineLength: number
  readonly logLines: number
  /** By path, the files whose code is not at its own places. */
  readonly moved: Readonly<Record<string, true>>
  /** By operation; undefined where none has any. */
  readonly schemas: Readonly<Record<string, OperationSchemas>> | undefined
  /** When the context began, by the host's clock that is never set. */
  readonly nowMs: number
}

let config: BootConfig | undefined

export function setConfig(value: BootConfig): void {
  config = value
}

export function configured(): BootConfig {
  if (!config) throw new Error('The context has not been booted')
  return config
}
