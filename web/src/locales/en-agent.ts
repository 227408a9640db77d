/** Texts of plans and questions, in English: loaded with the first part that shows them. */
export const texts = {
  'plan.label': 'Plan',
  'plan.progress': '{done, number} of {count, number} done',
  'plan.pending': 'To do',
  'plan.in_progress': 'In progress',
  'plan.completed': 'Done',
  'plan.cancelled': 'Cancelled',
  'question.title': '{count, plural, one {A question for you} other {Questions for you}}',
  'question.several': 'Choose any that apply',
  'question.own': 'In your own words',
  'question.send': 'Answer',
  'question.skip': 'Skip',
  'question.sending': 'Sending…',
  'question.elsewhere': 'Answered elsewhere, or no longer needed.',
  'question.ended': 'The answer ended before these questions were answered.',
  'question.none': 'No answer',
};
