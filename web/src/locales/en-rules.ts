/** Texts of rules for tools. ICU MessageFormat, ids `rules.<what>`. */
export const texts = {
  'rules.title': 'What models may do without asking',
  'rules.text': 'For the tools of your workspace, in all your conversations. A conversation can have its own.',
  'rules.preset': 'How models work',
  'rules.preset.ask': 'Ask first',
  'rules.preset.auto': 'Auto',
  'rules.preset.read-only': 'Read only',
  'rules.hint.ask':
    'Reading is free. Before writing, publishing, or running a command that may do more than read, the model asks you.',
  'rules.hint.auto': 'Tools run without asking, unless a rule below says otherwise.',
  'rules.hint.read-only':
    'Nothing is written, and only commands that just read are run. Good for planning. Rules can’t lift this.',
  'rules.list': 'Rules',
  'rules.listHint':
    'Deny always wins; otherwise the more specific rule counts. In a command, * stands for any text: git push *',
  'rules.none': 'No rules yet.',
  'rules.add': 'Add rule',
  'rules.remove': 'Remove rule {number}',
  'rules.policyOf': 'What rule {number} says',
  'rules.policy.allow': 'Allow',
  'rules.policy.ask': 'Ask',
  'rules.policy.deny': 'Deny',
  'rules.toolOf': 'Tool of rule {number}',
  'rules.bash': 'Commands',
  'rules.patternOf': 'Commands of rule {number}',
  'rules.everyCommand': 'Every command',
  'rules.full': 'There is no room for more rules. Remove one first.',
  'rules.long': 'The rules are too long together. Remove or shorten some.',
  'rules.here': 'Tools in this conversation',
  'rules.asMine': 'As in my settings',
  'rules.programModels': 'Programs may use my models',
  'rules.programModelsHint':
    'Programs that run in your workspace can ask your models. What they ask counts as your usage.',
  'rules.saved': 'Rules saved',
};
