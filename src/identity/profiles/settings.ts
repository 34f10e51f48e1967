import { Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'

const MAX_BYTES = 16 * 1024
const MAX_DEPTH = 128

/** A JSON object of the client's own; what it means is the client's business. */
export const ProfileSettings = Type.Record(Type.String(), Type.Unknown(), {
  fault: 'must be an object',
})
export type ProfileSettings = Readonly<Record<string, unknown>>

/** The settings as they are stored. Refuses what is too long or too deep, and text that PostgreSQL cannot keep. */
export function parseProfileSettings(settings: ProfileSettings): ProfileSettings {
  const fault = shapeFault(settings, MAX_DEPTH) ?? lengthFault(settings)
  if (fault !== undefined) throw invalid('settings', fault)
  return settings
}

function lengthFault(settings: ProfileSettings): string | undefined {
  const sizeBytes = Buffer.byteLength(JSON.stringify(settings))
  if (sizeBytes <= MAX_BYTES) return undefined
  return `must be at most ${MAX_BYTES} bytes as JSON, not ${sizeBytes}`
}

function shapeFault(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return textFault(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (levels === 0) return `must not be nested deeper than ${MAX_DEPTH} levels`
  for (const [key, item] of Object.entries(value)) {
    const fault = textFault(key) ?? shapeFault(item, levels - 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

const textFault = (text: string): string | undefined =>
  text.includes('\0') || !text.isWellFormed()
    ? 'must contain neither NUL nor half a surrogate pair'
    : undefined
