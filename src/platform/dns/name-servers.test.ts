import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, describe, expect, test, vi } from 'vitest'

import { NameServers, serversIn } from './name-servers.ts'

const addresses = async (servers: NameServers) =>
  (await servers.inOrder()).map(({ address }) => address)

describe('the name servers of a system', () => {
  afterEach(() => void vi.useRealTimers())

  test('are those of its resolv.conf', () => {
    const text = [
      '# nameserver 192.0.2.9',
      'search example.test',
      'nameserver 192.0.2.1',
      'nameserver\t2001:db8::1 # the second',
      'nameserver nonsense',
      'nameserver fe80::1%eth0',
      'nameserver 192.0.2.4',
      'options ndots:5',
    ].join('\n')
    expect(serversIn(text).map(({ address, port }) => [address, port])).toEqual([
      ['192.0.2.1', 53],
      ['2001:db8::1', 53],
      ['fe80::1%eth0', 53],
    ])
    expect(serversIn('')).toEqual([{ address: '127.0.0.1', port: 53 }])
  })

  test('are read again when the file changes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const folder = await mkdtemp(join(tmpdir(), 'croft-dns-'))
    const file = join(folder, 'resolv.conf')
    const servers = new NameServers(undefined, file)
    expect(await addresses(servers)).toEqual(['127.0.0.1'])
    await writeFile(file, 'nameserver 192.0.2.1\nnameserver 192.0.2.2\n')
    vi.advanceTimersByTime(6000)
    const [first] = await servers.inOrder()
    first?.noteSilence()
    expect(await addresses(servers)).toEqual(['192.0.2.2', '192.0.2.1'])
    vi.advanceTimersByTime(31_000)
    expect(await addresses(servers)).toEqual(['192.0.2.1', '192.0.2.2'])
    await rm(folder, { recursive: true })
    vi.advanceTimersByTime(6000)
    expect(await addresses(servers)).toEqual(['127.0.0.1'])
  })

  test('are not read where others are configured', async () => {
    const servers = new NameServers([{ address: '192.0.2.7', port: 5353 }], '/nonexistent/file')
    expect(await addresses(servers)).toEqual(['192.0.2.7'])
  })
})
