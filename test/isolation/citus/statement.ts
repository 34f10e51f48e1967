import { parse } from 'libpg-query'

import { isJsonObject } from '#base/json-object.ts'

import { SiteGroups } from './site-groups.ts'

/** How a distributed database could run a statement. */
export interface StatementWay {
  /** `SelectStmt`, `InsertStmt`, … */
  readonly kind: string
  /** Distributed tables in it, once each. */
  readonly tables: readonly string[]
  /** On the node of one site: everything in it is of the site that it names. */
  readonly isOfOneSite: boolean
  /** On all nodes, each for its own: its tables are joined by site. */
  readonly isBySite: boolean
  /** Whether rows are locked that are not updated at once. */
  readonly locks: boolean
}

const SITE_COLUMN = 'site_id'
/** The node types of a value. */
const VALUES: ReadonlySet<string> = new Set(['ParamRef', 'A_Const', 'FuncCall'])

type Node = Readonly<Record<string, unknown>>

/** A name that columns are qualified with, and what it stands for. */
type Scope = ReadonlyMap<string, string>

/** Undefined where no distributed table is in it. */
export async function wayOf(
  sql: string,
  distributed: ReadonlySet<string>,
): Promise<StatementWay | undefined> {
  const { stmts = [] } = await parse(sql)
  const [first] = stmts
  const whole: unknown = first?.stmt
  if (!isJsonObject(whole)) return undefined
  const reader = new StatementReader(distributed)
  reader.read(whole, new Map())
  const tables = [...new Set(reader.tables.values())].toSorted()
  if (tables.length === 0) return undefined
  const relations = [...reader.tables.keys()]
  return {
    kind: Object.keys(whole)[0] ?? '',
    tables,
    isOfOneSite: reader.groups.areOne([SiteGroups.SITE, ...relations]),
    isBySite: reader.groups.areOne(relations),
    locks: JSON.stringify(whole).includes('"LockingClause"'),
  }
}

class StatementReader {
  readonly groups = new SiteGroups()
  /** By a name of their own, since a statement may have a table twice. */
  readonly tables = new Map<string, string>()
  readonly #distributed: ReadonlySet<string>
  readonly #common = new Map<string, string>()
  #count = 0

  constructor(distributed: ReadonlySet<string>) {
    this.#distributed = distributed
  }

  /** A statement, with the names of those around it. Gives what its own site is compared with. */
  read(node: Node, outer: Scope): string {
    const [[kind, value] = ['', {}]] = Object.entries(node)
    const statement = isJsonObject(value) ? value : {}
    const own = this.#name(kind)
    for (const each of listOf(nodeOf(statement['withClause'])['ctes']))
      this.#commonTable(each, outer)
    if (statement['op'] !== undefined && statement['op'] !== 'SETOP_NONE') {
      this.#both(statement, outer, own)
      return own
    }
    const scope = new Map(outer)
    const sources = [
      ...(isJsonObject(statement['relation']) ? [{ RangeVar: statement['relation'] }] : []),
      ...listOf(statement['fromClause']),
      ...listOf(statement['usingClause']),
    ]
    const quals: unknown[] = [statement['whereClause'], statement['havingClause']]
    for (const source of sources) this.#source(source, scope, quals)
    for (const qual of quals) this.#compare(qual, scope)
    this.#output(statement, scope, own)
    if (kind === 'InsertStmt') this.#inserted(statement, scope)
    this.#nested(
      [
        statement['targetList'],
        statement['returningList'],
        statement['sortClause'],
        ...quals,
        statement['valuesLists'],
        statement['limitCount'],
        statement['onConflictClause'],
      ],
      scope,
    )
    return own
  }

  #name(words: string): string {
    this.#count += 1
    return `${words} ${this.#count}`
  }

  #both({ larg, rarg }: Node, outer: Scope, own: string): void {
    for (const side of [larg, rarg]) {
      if (isJsonObject(side)) this.groups.unite(this.read({ SelectStmt: side }, outer), own)
    }
  }

  #commonTable(node: unknown, outer: Scope): void {
    const { ctename, ctequery } = nodeOf(nodeOf(node)['CommonTableExpr'])
    const own = this.#name(`with ${String(ctename)}`)
    // It may name itself.
    this.#common.set(String(ctename), own)
    if (isJsonObject(ctequery)) this.groups.unite(this.read(ctequery, outer), own)
  }

  /** A table, a join, a statement in brackets or a function of FROM. */
  #source(node: unknown, scope: Map<string, string>, quals: unknown[]): void {
    const [[kind, value] = ['', undefined]] = Object.entries(nodeOf(node))
    const source = nodeOf(value)
    const alias = aliasOf(source)
    if (kind === 'JoinExpr') this.#join(source, scope, quals)
    else if (kind === 'RangeVar') this.#table(textOf(source['relname']) ?? '', alias, scope)
    else if (kind === 'RangeSubselect') {
      scope.set(alias ?? this.#name('bracket'), this.read(nodeOf(source['subquery']), scope))
    } else {
      scope.set(alias ?? this.#name('function'), this.#name('function'))
      this.#nested([source], scope)
    }
  }

  #join(join: Node, scope: Map<string, string>, quals: unknown[]): void {
    const before = new Set(scope.values())
    this.#source(join['larg'], scope, quals)
    const left = [...scope.values()].filter((name) => !before.has(name))
    this.#source(join['rarg'], scope, quals)
    const right = [...scope.values()].filter((name) => !before.has(name) && !left.includes(name))
    quals.push(join['quals'])
    if (!namesIn(join['usingClause']).includes(SITE_COLUMN)) return
    for (const name of right) for (const other of left) this.groups.unite(name, other)
  }

  #table(table: string, alias: string | undefined, scope: Map<string, string>): void {
    const common = this.#common.get(table)
    const relation = common ?? this.#name(table)
    if (common === undefined && this.#distributed.has(table)) this.tables.set(relation, table)
    scope.set(alias ?? table, relation)
  }

  /** Equalities that hold for every row: those under AND. */
  #compare(node: unknown, scope: Scope): void {
    const { BoolExpr: combined, A_Expr: compared } = nodeOf(node)
    const { boolop, args } = nodeOf(combined)
    if (boolop === 'AND_EXPR') for (const each of listOf(args)) this.#compare(each, scope)
    const { kind, name, lexpr, rexpr } = nodeOf(compared)
    if (kind !== 'AEXPR_OP' || namesIn(name)[0] !== '=') return
    for (const pair of pairsOf(lexpr, rexpr)) {
      const [left, right] = pair.map((side) => this.#site(side, scope))
      if (left !== undefined && left !== SiteGroups.SITE && right !== undefined) {
        this.groups.unite(left, right)
      }
    }
  }

  /** What a site is compared with: the relation of a column, or the one site of a value. */
  #site(node: unknown, scope: Scope): string | undefined {
    const [[kind, value] = ['', undefined]] = Object.entries(nodeOf(node))
    if (VALUES.has(kind)) return SiteGroups.SITE
    if (kind === 'TypeCast') return this.#site(nodeOf(value)['arg'], scope)
    if (kind === 'SubLink') return this.read(nodeOf(nodeOf(value)['subselect']), scope)
    return kind === 'ColumnRef' ? this.#column(namesIn(nodeOf(value)['fields']), scope) : undefined
  }

  #column(names: readonly string[], scope: Scope): string | undefined {
    if (names.at(-1) !== SITE_COLUMN) return undefined
    return names.length > 1 ? scope.get(names.at(-2) ?? '') : this.#only(scope)
  }

  /** The relation of a column without a qualifier: what came last that has one. */
  #only(scope: Scope): string | undefined {
    const names = [...scope.values()]
    return names.findLast((name) => this.tables.has(name)) ?? names.at(-1)
  }

  /** The site of its rows is that of what it takes the column from: by name, or with all columns of its first table. */
  #output({ targetList, returningList }: Node, scope: Scope, own: string): void {
    for (const { name, val } of targetsOf(targetList)) {
      const isSite = name === SITE_COLUMN || (name === undefined && 'ColumnRef' in nodeOf(val))
      this.#unite(own, isSite ? this.#site(val, scope) : undefined)
      const first = [...scope.values()].find((each) => this.tables.has(each))
      if (JSON.stringify(val ?? '').includes('"A_Star"')) this.#unite(own, first)
    }
    for (const { val } of targetsOf(returningList)) {
      const site = this.#site(val, scope)
      if (site !== SiteGroups.SITE) this.#unite(own, site)
    }
  }

  #unite(one: string, other: string | undefined): void {
    if (other !== undefined) this.groups.unite(one, other)
  }

  /** The site of what is inserted is the value, or the column, at its place. */
  #inserted({ cols, selectStmt }: Node, scope: Scope): void {
    const at = listOf(cols).findIndex(
      (col) => nodeOf(nodeOf(col)['ResTarget'])['name'] === SITE_COLUMN,
    )
    const target = this.#only(scope)
    const select = nodeOf(nodeOf(selectStmt)['SelectStmt'])
    if (target === undefined) return
    const rows = listOf(select['valuesLists'])
    if (rows.length > 0) {
      const sites = rows.map((row) => listOf(nodeOf(nodeOf(row)['List'])['items'])[at])
      if (sites.every((site) => this.#site(site, scope) === SiteGroups.SITE)) {
        this.groups.unite(target, SiteGroups.SITE)
      }
      return
    }
    const source = this.read(nodeOf(selectStmt), scope)
    const value = nodeOf(nodeOf(listOf(select['targetList'])[at])['ResTarget'])['val']
    const isValue = ['ParamRef', 'TypeCast', 'A_Const'].some((kind) => kind in nodeOf(value))
    this.groups.unite(target, isValue ? SiteGroups.SITE : source)
  }

  /** Statements within expressions. */
  #nested(nodes: readonly unknown[], scope: Scope): void {
    for (const node of nodes) {
      if (Array.isArray(node)) this.#nested(node, scope)
      else if (isJsonObject(node)) {
        if ('SelectStmt' in node) this.read(node, scope)
        else this.#nested(Object.values(node), scope)
      }
    }
  }
}

const nodeOf = (value: unknown): Node => (isJsonObject(value) ? value : {})

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const targetsOf = (value: unknown): readonly Node[] =>
  listOf(value).map((each) => nodeOf(nodeOf(each)['ResTarget']))

/** A star has no name. */
const namesIn = (value: unknown): string[] =>
  listOf(value).map((each) => textOf(nodeOf(nodeOf(each)['String'])['sval']) ?? '*')

const aliasOf = (source: Node): string | undefined => textOf(nodeOf(source['alias'])['aliasname'])

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** `a = b`, and each of `(a, b) = (c, d)`. */
function pairsOf(left: unknown, right: unknown): (readonly [unknown, unknown])[] {
  const [ones, others] = [left, right].map((side) =>
    listOf(nodeOf(nodeOf(side)['RowExpr'])['args']),
  )
  if (ones === undefined || ones.length === 0) return [[left, right]]
  return ones.map((one, at) => [one, others?.[at]] as const)
}
