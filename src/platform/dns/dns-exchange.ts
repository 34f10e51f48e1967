import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'

import type { DnsServerAddress } from '#config/config.ts'

import { matchOf } from './dns-message.ts'

/** A message, or undefined where none came in time. */
type Received = Promise<Buffer | undefined>

/**
 * Sends a query from a port of its own and resolves with the first datagram from that server that responds to it; all others
 * are forged or late. Rejects where the network says that the server is away.
 */
export async function exchangeByUdp(
  server: DnsServerAddress,
  query: Buffer,
  timeoutMs: number,
): Received {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    socket.on('error', reject)
    socket.on('message', (message, from) => {
      const isServer = from.port === server.port && isFrom(server, from.address)
      if (isServer && matchOf(query, message) !== undefined) resolve(message)
    })
    socket.connect(server.port, server.address, (error?: Error | null) => {
      if (error) return reject(error)
      socket.send(query, (failure) => failure && reject(failure))
    })
    return await promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

/** The same over a connection (RFC 7766), for responses that no datagram holds. */
export async function exchangeByTcp(
  server: DnsServerAddress,
  query: Buffer,
  timeoutMs: number,
): Received {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const socket = connect({ host: server.address, port: server.port })
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  let received = Buffer.alloc(0)
  try {
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The DNS server closed the connection')))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const end = received.length < 2 ? Infinity : 2 + received.readUInt16BE(0)
      if (received.length >= end) resolve(received.subarray(2, end))
    })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(query.length)
    socket.write(Buffer.concat([length, query]))
    const message = await promise
    if (message && matchOf(query, message) === undefined) {
      throw new Error('The DNS server responded to another query')
    }
    return message
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** An IPv6 address has several texts: there the connected socket takes nothing from another. */
const isFrom = ({ address }: DnsServerAddress, from: string): boolean =>
  isIPv6(address) || address === from
