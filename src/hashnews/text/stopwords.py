"""Words that say nothing of what a text is about, in the form `words` gives them."""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing down during each even ever
    every few for from further get gets getting go goes going got had has have having he her
    here hers herself him himself his how i if in into is it its itself just let like made make
    many may me might more most much must my myself no nor not now of off on once one only or
    other our ours ourselves out over own per said same say says she should since so some such
    than that the their theirs them themselves then there these they this those through to too
    under until up upon us very via was we were what when where whether which while who whom
    whose why will with within without would yet you your yours yourself yourselves im ive id
    ill youre youve youll hes shes theyre weve thats theres heres whats lets dont doesnt didnt
    cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt aint s t re
    ve ll d m amp rt http https www com
    """.split()
)

# Words of news prose that are in every article and in no hashtag: no use as context.
GENERIC_WORDS = frozenset(
    """
    according accused added adding ago ahead allegedly almost already also amid among announced
    another around asked based became become began begin billion call called calling calls came
    caption cent claims click come comes confirmed continue continues delivered despite
    different dr due email ended ever expected far five following former found gathered given
    half hard held hours however hundreds image images inbox including involved joined keywords
    known late latest least left likely little long looking looks lot making many members
    minutes months mr mrs much near nearly newsletter noted number often old others outside
    parts past per percent photo picture place playback point posted really recent released
    reported reportedly reports revealed saying seen set seven several share shared showed sign
    six soon sparked start statement subscribe taken taking tell tells thing things think third
    though thousands three told took total toward towards turned two unfolding unfolds use used
    using via wants ways weeks well whose without
    """.split()
)
