import { X509Certificate, createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import { testCertificate } from './test-certificate.ts'

/** TLS before a service that speaks HTTP, for whatever name a browser asks. */
export interface TlsFront extends AsyncDisposable {
  readonly port: number
  /** SHA-256 of the certificate's public key, in base64: a browser that trusts it takes the certificate as a good one. */
  readonly keyHash: string
}

export async function startTlsFront(servicePort: number): Promise<TlsFront> {
  const { key, cert } = await testCertificate()
  const server = createServer({ key, cert }, (incoming, response) => {
    const { method, url: path, headers } = incoming
    const target = { host: '127.0.0.1', port: servicePort, method, path, headers }
    const onward = request(target, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const publicKey = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
  return {
    port: (server.address() as AddressInfo).port,
    keyHash: createHash('sha256').update(publicKey).digest('base64'),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
