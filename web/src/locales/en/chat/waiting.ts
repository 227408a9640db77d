/** Texts about waiting for a model, in English: loaded when an answer waits. */
export const texts = {
  'thread.waitLimited': 'The provider is limiting requests.',
  'thread.waitLoading': 'The model is still loading.',
  'thread.waitUnavailable': 'The provider isn’t responding.',
  'thread.waitRetry': 'Trying again in {seconds} s.',
  'thread.waitFirst':
    'The model hasn’t responded yet. Long conversations and models on your own machine can take minutes.',
  'thread.waitLeft': 'Waiting {seconds} s longer at most.',
};
