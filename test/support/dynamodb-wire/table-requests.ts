/** What is left of the requests about tables once their shapes were read. */
export interface KeyElement {
  readonly AttributeName: string
  readonly KeyType: string
}

export interface Throughput {
  readonly ReadCapacityUnits: number
  readonly WriteCapacityUnits: number
}

interface IndexProjection {
  readonly ProjectionType?: string
  readonly NonKeyAttributes?: readonly string[]
}

export interface IndexRequest {
  readonly IndexName: string
  readonly KeySchema: readonly KeyElement[]
  readonly Projection: IndexProjection
  readonly ProvisionedThroughput?: Throughput
}

export interface AttributeDefinition {
  readonly AttributeName: string
  readonly AttributeType: 'S' | 'N' | 'B'
}

export type BillingMode = 'PROVISIONED' | 'PAY_PER_REQUEST'

export interface Tag {
  readonly Key: string
  readonly Value: string
}

export interface CreateTable {
  readonly TableName: string
  readonly AttributeDefinitions: readonly AttributeDefinition[]
  readonly KeySchema: readonly KeyElement[]
  readonly BillingMode?: BillingMode
  readonly ProvisionedThroughput?: Throughput
  readonly LocalSecondaryIndexes?: readonly IndexRequest[]
  readonly GlobalSecondaryIndexes?: readonly IndexRequest[]
  readonly Tags?: readonly Tag[]
  readonly DeletionProtectionEnabled?: boolean
}

export interface IndexUpdate {
  readonly Create?: IndexRequest
  readonly Update?: { readonly IndexName: string; readonly ProvisionedThroughput: Throughput }
  readonly Delete?: { readonly IndexName: string }
}

export interface UpdateTable {
  readonly TableName: string
  readonly AttributeDefinitions?: readonly AttributeDefinition[]
  readonly BillingMode?: BillingMode
  readonly ProvisionedThroughput?: Throughput
  readonly GlobalSecondaryIndexUpdates?: readonly IndexUpdate[]
  readonly DeletionProtectionEnabled?: boolean
}

export interface UpdateTimeToLive {
  readonly TableName: string
  readonly TimeToLiveSpecification: { readonly Enabled: boolean; readonly AttributeName: string }
}
