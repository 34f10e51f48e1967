/** Bottom to top. A layer may import the layers before it, and itself. */
const LAYERS = [
  'base',
  'languages',
  'config',
  'platform',
  'sites',
  'identity',
  'mail',
  'runtime',
  'archives',
  'context',
  'http',
  'cli',
] as const
type Layer = (typeof LAYERS)[number]
const CONTEXT = ['src/context.ts', 'src/open-deployments.ts', 'src/opened-platform.ts']

const upward = (layer: Layer) =>
  `^#(?:${[...LAYERS.slice(LAYERS.indexOf(layer) + 1), 'test'].join('|')})(?:/|$)`
type Pattern = { regex: string; message: string }

/** The folders of the sandbox, each with those that it may import. Above them are the entries of its processes. */
const SANDBOX_FOLDERS = {
  protocol: [],
  crypto: [],
  mail: [],
  modules: ['protocol'],
  guest: ['crypto', 'modules', 'protocol'],
  host: ['crypto', 'guest', 'modules', 'protocol'],
  build: ['guest'],
} as const satisfies Record<string, readonly string[]>
const OF_SERVICE = {
  regex:
    '^#(?:base|languages|config|platform|sites|identity|mail|runtime|archives|context|http|cli|test)(?:/|$)',
  message: 'sandbox imports nothing from src',
}

/** What of the sandbox is not in the folders of `own`. */
const otherOfSandbox = (...own: readonly string[]): string => {
  const others = Object.keys(SANDBOX_FOLDERS).filter((name) => !own.includes(name))
  return `^#sandbox/(?:[^/]+$|(?:${others.join('|')})/)`
}

const ban = (...patterns: Pattern[]): ['error', { patterns: Pattern[] }] => ['error', { patterns }]
const CLIMB = {
  regex: '^\\.\\.',
  message: 'Import across folders by layer: #mail/aliases/model.ts',
}
const ELYSIA = { regex: '^elysia', message: 'Only src/http knows the web framework' }
const PRIVATE = {
  regex: '^#(?:archives|identity|mail|runtime|sites)/.*queries\\.ts$',
  message: 'queries.ts is private to its module: call the service',
}
const SANDBOX = {
  regex: '^#sandbox/',
  message: 'Only platform/sandbox-host speaks to the sandbox',
}

const layerRules = (layer: Layer) => [
  CLIMB,
  PRIVATE,
  ...(layer === 'http' ? [] : [ELYSIA]),
  ...(layer === 'platform' ? [] : [SANDBOX]),
  { regex: upward(layer), message: `${layer} may not import upward` },
]

export default {
  plugins: ['eslint', 'typescript', 'unicorn', 'import', 'promise', 'node', 'vitest', 'oxc'],
  categories: { correctness: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: [
    'node_modules',
    'dist',
    '.croft',
    'conformance/functions',
    'examples',
    'packages/sdk/admin-routes.ts',
  ],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/only-throw-error': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'no-console': 'error',
    'node/no-process-env': 'error',
    eqeqeq: 'error',
    'vitest/no-standalone-expect': ['error', { additionalTestBlockFunctions: ['testOn'] }],
    // The second argument says which case of a walk failed.
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'max-lines': ['error', { max: 500 }],
    'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    'max-params': ['error', { max: 4 }],
    complexity: ['error', { max: 10 }],
    'no-restricted-imports': ban(CLIMB),
  },
  overrides: [
    ...LAYERS.map((layer) => ({
      files: layer === 'context' ? CONTEXT : [`src/${layer}/**`],
      rules: { 'no-restricted-imports': ban(...layerRules(layer)) },
    })),
    {
      // Reads the headers of mail with the code that reads its bodies in the sandbox.
      files: ['src/mail/headers/**'],
      rules: {
        'no-restricted-imports': ban(
          CLIMB,
          PRIVATE,
          ELYSIA,
          { ...SANDBOX, regex: `${otherOfSandbox('mail')}|^#sandbox/mail/[^/]+$` },
          { regex: upward('mail'), message: 'mail may not import upward' },
        ),
      },
    },
    {
      files: ['sandbox/**'],
      rules: {
        'no-restricted-imports': ban(CLIMB, OF_SERVICE),
      },
    },
    ...Object.entries(SANDBOX_FOLDERS).map(([folder, below]) => ({
      files: [`sandbox/${folder}/**`],
      rules: {
        'no-restricted-imports': ban(CLIMB, OF_SERVICE, {
          regex: otherOfSandbox(folder, ...below),
          message: `sandbox/${folder} imports ${below.join(', ') || 'nothing else'} of the sandbox`,
        }),
      },
    })),
    {
      // Serves a guest as a host does.
      files: ['sandbox/guest/testing/**'],
      rules: { 'no-restricted-imports': ban(CLIMB, OF_SERVICE) },
    },
    {
      files: ['packages/sdk/**'],
      rules: {
        'no-restricted-imports': ban({
          regex: '^(?:[^.]|\\.\\.)',
          message: 'sdk imports nothing from outside its folder',
        }),
      },
    },
    {
      files: ['packages/console/**'],
      rules: {
        'no-restricted-imports': ban({
          regex:
            '^(?:\\.\\./)+(?:api|components|forms|router|screens|session|shell|src|texts)(?:/|\\.)|^#(?:archives|base|cli|config|context|http|identity|languages|mail|platform|runtime|sites|test)(?:/|$)',
          message: 'Import across folders by #app/…, and nothing from outside but packages/sdk',
        }),
      },
    },
    {
      files: [
        'src/config/**',
        'src/main.ts',
        'src/cli/**',
        'test/**',
        'bench/**',
        'conformance/**',
        'scripts/**',
      ],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      files: ['src/cli/**', 'bench/**', 'conformance/**', 'scripts/**', 'test/load/**'],
      rules: { 'no-console': 'off' },
    },
    {
      files: [
        '*.config.ts',
        'test/support/global-setup.ts',
        'sandbox/host/worker.ts',
        'test/cli/packages/**',
      ],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      // Generated.
      files: ['src/platform/postgres/database-schema.ts'],
      rules: { 'max-lines': 'off' },
    },
    {
      files: ['**/*.test.ts'],
      rules: { 'max-lines-per-function': 'off', 'max-params': 'off', 'max-lines': 'off' },
    },
  ],
}
