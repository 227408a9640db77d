import 'virtual:texts/catalogue';
import type { Model } from '@homeport/contracts/catalogue/catalogue';
import type { Lesson } from '@homeport/contracts/catalogue/model-facts';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery } from '../../api/queries.ts';
import { FormFailure } from '../../forms/notice.tsx';
import { dateLocale, numberLocale } from '../../i18n/format-locale.ts';
import { type Translate, useText } from '../../i18n/i18n.ts';
import { useCatalogueApi } from '../catalogue-api.ts';
import classes from './model-lessons.module.css';

type Size = 'contextWindow' | 'maxOutputTokens';
type Props = { model: Model; onUse: (size: Size, tokens: string) => void };

/** Refusals of a model's server, each with its day and a way to forget it; a size can be taken into the form. */
export function ModelLessons({ model, onUse }: Props) {
  const t = useText();
  const queries = useQueryClient();
  const api = useCatalogueApi();
  const [lessons, setLessons] = useState(model.lessons);
  const [failure, setFailure] = useState<unknown>();
  if (lessons.length === 0) return null;
  const { forgetLessons } = api;
  const forget = async (about: Lesson['about']): Promise<void> => {
    try {
      if (forgetLessons === undefined) return;
      const { model: changed } = await forgetLessons(model.id, about);
      setLessons(changed.lessons);
      await queries.invalidateQueries({ queryKey: catalogueQuery.queryKey });
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <section className={classes.lessons}>
      <h3 className={classes.title}>{t('lessons.title')}</h3>
      <ul className={classes.list}>
        {lessons.map((lesson) => {
          const size = sizeOf(lesson.about);
          const day = new Date(lesson.at).toLocaleDateString(dateLocale());
          return (
            <li key={`${lesson.about} ${lesson.value}`} className={classes.lesson}>
              <span className={classes.text}>
                {lessonText(lesson, t)} <span className={classes.day}>{t('lessons.day', { day })}</span>
              </span>
              {size !== undefined && Number(lesson.value) !== model[size] && (
                <Button size="compact-sm" variant="default" onClick={() => onUse(size, lesson.value)}>
                  {t('lessons.use')}
                </Button>
              )}
              {forgetLessons !== undefined && (
                <Button size="compact-sm" variant="subtle" onClick={() => forget(lesson.about)}>
                  {t('lessons.forget')}
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      <FormFailure failure={failure} />
    </section>
  );
}

function sizeOf(about: Lesson['about']): Size | undefined {
  if (about === 'context') return 'contextWindow';
  return about === 'max_output' ? 'maxOutputTokens' : undefined;
}

function lessonText({ about, value }: Lesson, t: Translate): string {
  const count = Number(value).toLocaleString(numberLocale());
  const texts: Record<Lesson['about'], () => string> = {
    tools: () => t('lessons.tools'),
    images: () => t('lessons.images'),
    system: () => t('lessons.system'),
    reasoning: () => t('lessons.reasoning'),
    parameter: () => t('lessons.parameter', { name: value }),
    max_output: () => t('lessons.maxOutput', { count }),
    context: () => t('lessons.context', { count }),
  };
  return texts[about]();
}
