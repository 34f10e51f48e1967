import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const of = faultsOf('network')

const ADDRESSES = 'src/platform/egress/public-address.ts'
const ADDRESSES_TEST = ['src/platform/egress/public-address.test.ts']
const ALLOW = 'src/platform/egress/allow-list.ts'
const ALLOW_TEST = ['src/platform/egress/allow-list.test.ts']
const EGRESS = 'src/platform/egress/http-egress.ts'
const HEADERS = 'src/platform/egress/http-egress.ts'
const EGRESS_TEST = ['test/egress/http-egress.test.ts']
const HEAD = 'src/runtime/calls/http/response-head.ts'
const HEAD_TEST = ['src/runtime/calls/http/response-head.test.ts']

/** Requests that sites make, and headers and paths that they choose. */
export const NETWORK: readonly Mutation[] = [
  of(
    'metadata services',
    [ADDRESSES, "  '169.254.0.0/16',\n", ''],
    'site code reads the keys of the machine',
    ADDRESSES_TEST,
  ),
  of(
    'private networks',
    [ADDRESSES, "  '10.0.0.0/8',\n", ''],
    'site code reaches the neighbours of the machine',
    ADDRESSES_TEST,
  ),
  of(
    'tunnelled IPv4',
    [ADDRESSES, " '2002::/16',", ''],
    'site code reaches 127.0.0.1 by another spelling',
    ADDRESSES_TEST,
  ),
  of(
    'one public address among several',
    [EGRESS, '!addresses.every((address)', '!addresses.some((address)'],
    'a name that answers with two addresses reaches the private one',
    EGRESS_TEST,
  ),
  of(
    'redirects to anywhere',
    [
      EGRESS,
      'const fault = urlFault(hop.url, policy.allow)',
      "const fault = urlFault(hop.url, ['*', ...policy.allow])",
    ],
    'an allowed host passes site code on to one that is not',
    EGRESS_TEST,
  ),
  of(
    'credentials for another origin',
    [
      HEADERS,
      'if (change.crossOrigin && CREDENTIALS.has(lower)) return false',
      'if (change.crossOrigin && CREDENTIALS.has(name.slice(0, 0))) return false',
    ],
    'a redirect gets the token of the one who sent it',
    EGRESS_TEST,
  ),
  of(
    'a domain with the same suffix',
    [ALLOW, 'name.endsWith(host.slice(1))', 'name.endsWith(host.slice(2))'],
    '*.example.com allows evilexample.com',
    ALLOW_TEST,
  ),
  of(
    'ports of other protocols',
    [ALLOW, 'if (BAD_PORTS.has(portOf(url)))', 'if (BAD_PORTS.has(-portOf(url)))'],
    'HTTP speaks SMTP to a mail server',
    ALLOW_TEST,
  ),
  of(
    'credentials in a URL',
    [ALLOW, "if (url.username !== '' || url.password !== '')", "if (url.username === 'none')"],
    'a URL is read as another host than the one it names',
    ALLOW_TEST,
  ),
  of(
    'line breaks in request headers',
    [HEADERS, '\\x0a-\\x1f', '\\x0e-\\x1f'],
    'one request becomes two',
    EGRESS_TEST,
  ),
  of(
    'line breaks in response headers',
    [HEAD, '/^[\\t\\x20-\\x7e\\x80-\\xff]*$/', '/^[\\t\\r\\n\\x20-\\x7e\\x80-\\xff]*$/'],
    'a function’s header ends the head of the response',
    HEAD_TEST,
  ),
  of(
    'cookies for a domain',
    [HEAD, 'if (DOMAIN.test(value))', "if (value === 'none' && DOMAIN.test(value))"],
    'one site sets the cookies of its neighbours',
    HEAD_TEST,
  ),
  of(
    'cookies of the service',
    [HEAD, 'if (isReservedCookie(name))', "if (name === 'none' && isReservedCookie(name))"],
    'a function sets a session',
    HEAD_TEST,
  ),
  of(
    'headers of the service',
    [HEAD, '!RESERVED.has(name) &&', '!RESERVED.has(name.slice(0, 0)) &&'],
    'a function says how long a response is',
    HEAD_TEST,
  ),
  of(
    'forwarded addresses of any client',
    ['src/http/trusted-proxies.ts', '      if (!this.trusts(client)) return client\n', ''],
    'a client chooses the address that limits count',
    ['src/http/trusted-proxies.test.ts'],
  ),
  of(
    'artifacts that leave their folder',
    [
      'src/sites/artifact-path.ts',
      "(path) => hasPart(path, '..')",
      "(path) => hasPart(path, '...')",
    ],
    'a deployment writes into its neighbours',
    ['src/sites/artifact-path.test.ts'],
  ),
  of(
    'redirects for paths of the service',
    [
      'src/sites/static/redirects-file.ts',
      "if (isReservedPath(`/${pattern.segments[0] ?? ''}`))",
      "if (isReservedPath(`/none${pattern.segments[0] ?? ''}`))",
    ],
    'a site sends its sign-in elsewhere',
    ['src/sites/static/redirects-file.test.ts'],
  ),
]
