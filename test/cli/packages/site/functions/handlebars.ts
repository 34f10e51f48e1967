import Handlebars from 'handlebars'

const engine = Handlebars.create()
engine.registerHelper('upper', (text: string) => text.toUpperCase())
const template = engine.compile(
  '{{#each people}}<li>{{upper name}}{{#if age}} ({{age}}){{/if}}</li>{{else}}nobody{{/each}}',
)

export default ({ payload }: { payload: { people: object[] } }) => ({ html: template(payload) })
