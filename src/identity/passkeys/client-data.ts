import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const ClientData = Type.Object({
  challenge: Type.String(),
  crossOrigin: Type.Optional(Type.Boolean()),
  topOrigin: Type.Optional(Type.String()),
})

/** What a browser says of the page that asks for a passkey (Web Authentication, section 5.8.1). */
type ClientData = Static<typeof ClientData>

/** Undefined for what is none. What it says is checked by the device's signature, later. */
export function parseClientData(clientDataJson: string): ClientData | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString())
    return Value.Check(ClientData, value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether the page was in a frame of another origin, which may have made its owner touch the device. */
export const isFramed = ({ crossOrigin, topOrigin }: ClientData): boolean =>
  crossOrigin === true || topOrigin !== undefined
