import { createServer } from 'node:net'

/** Free at the moment: all held at once here, so that they differ, and then released. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address()
      await new Promise((resolve) => server.close(resolve))
      if (address === null || typeof address === 'string') throw new Error('no free port')
      return address.port
    }),
  )
}
