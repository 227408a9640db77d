/** Texts for people who don't manage models and tools: they name the administrators to ask. */
export const texts = {
  'empty.noModelTitle': 'Add a model to begin',
  'empty.noModelText': 'Connect a provider with its address and API key, then choose its models.',
  'empty.noModelAction': 'Add a provider',
  'ask.modelTitle': 'You don’t have a model yet',
  'ask.model':
    '{names, select, none {Ask your administrator to share a model with you.} other {Ask {names} to share a model with you.}} You can write your first message right after that.',
  'ask.ownModel': 'Use a model of my own',
  'ask.closedTitle': 'This is set up for you',
  'ask.closedText':
    '{names, select, none {Your administrator looks after it.} other {Ask {names} if you need something else.}}',
  'ask.closedHint': 'There is nothing to set up here.',
  'ask.closedAction': 'Go to your account',
  'ask.email': '{names, select, none {Ask your administrator to change it.} other {Ask {names} to change it.}}',
  'ask.broken':
    '{names, select, none {This model isn’t working right now. Choose another one, or tell your administrator.} other {This model isn’t working right now. Choose another one, or tell {names}.}}',
  'ask.busy': 'This model is busy right now. Try again in a moment.',
  'ask.loading': 'This model is still loading. Try again in a minute.',
  'ask.filtered': 'The model declined this message. Reword it, or choose another model.',
  'ask.tooLong': 'This conversation is too long for the model. Start a new one, or choose another model.',
  'ask.image': 'The model can’t use this picture. Choose another model, or remove the picture.',
  'ask.gone':
    '{names, select, none {No model is available. Choose another one, or ask your administrator to share one.} other {No model is available. Choose another one, or ask {names} to share one.}}',
  'ask.tool':
    '{names, select, none {A tool isn’t working right now. Try again, or tell your administrator.} other {A tool isn’t working right now. Try again, or tell {names}.}}',
  'ask.forbidden':
    '{names, select, none {Your account can’t change this. Ask your administrator.} other {Your account can’t change this. Ask {names}.}}',
} as const;
