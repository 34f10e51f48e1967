// Calls the site from outside, with the SDK: node notes.js http://localhost:8080 <access token of a visitor>
import { CroftError, createClient } from 'croft-sdk'

const [baseUrl, token] = process.argv.slice(2)
const client = createClient({ baseUrl, token })

const { message } = await client.publicData('hello', { name: 'Ada' })
await client.data('notes', { text: message })
try {
  await client.data('notes', { text: '' })
} catch (error) {
  if (!(error instanceof CroftError) || error.code !== 'InvalidNote') throw error
}
const { notes } = await client.data('notes', null)
console.log(JSON.stringify(notes))
