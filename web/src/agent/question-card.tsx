import 'virtual:texts/agent';
import type { AskedQuestions, Question } from '@homeport/contracts/chat/agent';
import type { DynamicToolPart } from '@homeport/contracts/chat/frames';
import { limits } from '@homeport/contracts/limits';
import { Button } from '@mantine/core';
import { MessageCircleQuestion } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { call } from '../api/api.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { useThreadActions } from '../conversation/thread-actions.ts';
import { failureText } from '../i18n/failure-text.ts';
import { useText } from '../i18n/i18n.ts';
import classes from './agent.module.css';
import { isUnanswered } from './unanswered.ts';

type State = 'open' | 'sending' | 'elsewhere';
type Props = { asked: AskedQuestions; part: DynamicToolPart | undefined; isLive: boolean };

/** The options and the words that a server proposes. */
const initialChoice = ({ options, field }: Question): string[] => (options.length > 0 ? (field?.initial ?? []) : []);
const initialWords = ({ options, field }: Question): string => (options.length > 0 ? '' : (field?.initial?.[0] ?? ''));

/** Questions of the model to the person: options, own words, and afterwards the answers. */
export function QuestionCard({ asked, part, isLive }: Props) {
  const t = useText();
  const { chatId, follow } = useThreadActions();
  const { questionId, questions } = asked;
  const titleId = useId();
  const [given, setGiven] = useState<readonly string[][]>(() => questions.map(initialChoice));
  const [own, setOwn] = useState<readonly string[]>(() => questions.map(initialWords));
  const [state, setState] = useState<State>('open');
  const [failure, setFailure] = useState<unknown>();
  const { from } = asked;
  const isWaiting = isLive && isUnanswered(asked, part);
  const all = given.map((labels, index) => {
    const words = (own[index] ?? '').trim();
    return words === '' ? labels : [...labels, words];
  });
  const hasAll = all.every((answer, index) => answer.length > 0 || questions[index]?.field?.required === false);

  const answer = async (answers: string[][], action?: 'decline') => {
    setState('sending');
    setFailure(undefined);
    try {
      await call('POST /api/chat/:chatId/answers', { params: { chatId }, body: { questionId, answers, action } });
    } catch (error) {
      const code = error instanceof ApiFailure ? error.code : undefined;
      if (code === 'input_applied' || code === 'not_found') setState('elsewhere');
      else {
        setFailure(error);
        setState('open');
      }
    }
    follow();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (hasAll) void answer(all);
  };
  const choose = (index: number, label: string, isChosen: boolean) => {
    const others = questions[index]?.multiple === true ? (given[index] ?? []).filter((one) => one !== label) : [];
    setGiven(given.with(index, isChosen ? [...others, label] : others));
  };

  return (
    <section
      className={classes.card}
      aria-labelledby={titleId}
      data-question={questionId}
      data-waiting={isWaiting || undefined}
    >
      <h3 className={classes.title} id={titleId}>
        <MessageCircleQuestion size={17} aria-hidden />
        {from ? t('question.ofServer', { server: from.server }) : t('question.title', { count: questions.length })}
      </h3>
      {from ? (
        <p className={classes.message} dir="auto">
          {from.message}
        </p>
      ) : null}
      {from?.url === undefined ? null : (
        <p className={classes.message}>
          <a href={from.url} target="_blank" rel="noopener noreferrer nofollow" dir="ltr">
            {from.url}
          </a>
        </p>
      )}
      {from && isWaiting ? (
        <p className={classes.hint}>{t(from.url === undefined ? 'question.noSecrets' : 'question.openIt')}</p>
      ) : null}
      {isWaiting && state !== 'elsewhere' ? (
        <form className={classes.form} onSubmit={submit}>
          {questions.map((question, index) => (
            <QuestionFields
              key={index}
              question={question}
              chosen={given[index] ?? []}
              own={own[index] ?? ''}
              isDisabled={state === 'sending'}
              onChoose={(label, isChosen) => choose(index, label, isChosen)}
              onOwn={(text) => {
                setOwn(own.with(index, text));
                if (!question.multiple && text.trim() !== '') setGiven(given.with(index, []));
              }}
            />
          ))}
          {failure === undefined ? null : (
            <p role="alert" className={classes.failure}>
              {failureText(failure, t)}
            </p>
          )}
          <div className={classes.buttons}>
            <Button type="submit" size="xs" disabled={!hasAll} loading={state === 'sending'}>
              {t(from?.url === undefined ? 'question.send' : 'question.done')}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="gray"
              disabled={state === 'sending'}
              onClick={() => void (from ? answer([], 'decline') : answer(all))}
            >
              {t(from ? 'question.decline' : 'question.skip')}
            </Button>
          </div>
        </form>
      ) : (
        <Said
          questions={questions}
          answers={from ? asked.answers?.map((texts) => texts.join(', ') || undefined) : answersOf(part?.output)}
          note={
            state === 'elsewhere' ? t('question.elsewhere') : from && t(`question.outcome.${asked.outcome ?? 'cancel'}`)
          }
        />
      )}
    </section>
  );
}

type FieldsProps = {
  question: Question;
  chosen: readonly string[];
  own: string;
  isDisabled: boolean;
  onChoose: (label: string, isChosen: boolean) => void;
  onOwn: (text: string) => void;
};

function QuestionFields({ question, chosen, own, isDisabled, onChoose, onOwn }: FieldsProps) {
  const t = useText();
  const name = useId();
  const fieldHint = t(question.field?.required ? 'question.needed' : 'question.optional');
  return (
    <fieldset className={classes.question} disabled={isDisabled}>
      <legend dir="auto">
        {question.header === undefined ? null : <span className={classes.header}>{question.header}</span>}
        {question.question}
      </legend>
      {question.about === undefined ? null : (
        <p className={classes.hint} dir="auto">
          {question.about}
        </p>
      )}
      {question.field?.required === false && question.options.length > 0 ? (
        <p className={classes.hint}>{t('question.mayBeLeft')}</p>
      ) : null}
      {question.multiple && question.options.length > 0 ? (
        <p className={classes.hint}>{t('question.several')}</p>
      ) : null}
      {question.options.map(({ label, description }, index) => (
        <label key={index} className={classes.option}>
          <input
            type={question.multiple ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.includes(label)}
            onChange={(event) => {
              onChoose(label, event.currentTarget.checked);
              if (!question.multiple) onOwn('');
            }}
          />
          <span>
            <span dir="auto">{label}</span>
            {description === undefined ? null : (
              <span className={classes.description} dir="auto">
                {description}
              </span>
            )}
          </span>
        </label>
      ))}
      {question.field && question.options.length > 0 ? null : (
        <input
          className={classes.own}
          value={own}
          maxLength={limits.answerTextMax}
          inputMode={question.field?.type === 'number' || question.field?.type === 'integer' ? 'decimal' : undefined}
          placeholder={question.field ? fieldHint : t('question.own')}
          aria-label={`${question.question}: ${question.field ? fieldHint : t('question.own')}`}
          dir="auto"
          onChange={(event) => onOwn(event.currentTarget.value)}
        />
      )}
    </fieldset>
  );
}

function Said({
  questions,
  answers,
  note,
}: {
  questions: readonly Question[];
  answers: readonly (string | undefined)[] | undefined;
  note: string | undefined;
}) {
  const t = useText();
  return (
    <>
      <dl className={classes.said}>
        {questions.map(({ question }, index) => (
          <div key={index}>
            <dt dir="auto">{question}</dt>
            {answers === undefined ? null : <dd dir="auto">{answers[index] ?? t('question.none')}</dd>}
          </div>
        ))}
      </dl>
      {answers !== undefined && note === undefined ? null : (
        <p role="status" className={classes.hint}>
          {note ?? t('question.ended')}
        </p>
      )}
    </>
  );
}

/** Parses the answers from the tool's output; undefined if there are none. */
function answersOf(output: unknown): (string | undefined)[] | undefined {
  const list = typeof output === 'object' && output !== null && 'answers' in output ? output.answers : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.map((one: unknown) => {
    const answer = typeof one === 'object' && one !== null && 'answer' in one ? one.answer : undefined;
    if (Array.isArray(answer)) return answer.filter((text) => typeof text === 'string').join(', ');
    return typeof answer === 'string' && answer !== '(no answer)' ? answer : undefined;
  });
}
