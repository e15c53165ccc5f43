#include "launch/bench/ladder/sample_text.h"

namespace trireme::launch {

std::string_view sample_text() {
  return "Long before anyone wrote down how a ship should be rowed, people who lived beside the sea had found out that "
         "strength alone does not make a boat fast. Two strong men who pull at different moments only shake the "
         "planks; four weak ones who pull together leave them behind. So the oldest galleys already carried a man who "
         "did not row at all. He sat at the stern with a drum or a flute, and his whole work was to keep the beat. "
         "When "
         "the wind fell he began slowly, because the water next to a resting hull is heavy, and he let the stroke grow "
         "quicker only as the ship gathered way.\n\n"
         "A single bank of oars was simple to build, but it had a limit. To add rowers the hull had to be longer, and "
         "a "
         "long hull of wood bends in the waves until its seams open. The shipwrights answered by placing a second bank "
         "above the first, and after some generations a third one above the second. The rowers of the top bank had the "
         "longest oars and the best air; those at the bottom sat just above the water, behind leather sleeves that "
         "kept "
         "it out, and saw nothing of the sea. Each bank had its own name, its own length of oar and its own pay. What "
         "they had in common was the beat.\n\n"
         "It is easy to believe that the speed of such a ship was the sum of what its rowers could do. In truth it was "
         "set by the slowest part of every stroke. If one bank was late by the time it takes to draw a breath, the "
         "oars "
         "of the next one struck against it, and the whole side lost a stroke while they were untangled. Captains who "
         "knew this did not look for heroes. They looked for crews that could be exchanged: a man who fell ill was "
         "replaced by another from the reserve, who heard the drum, waited for one stroke, and came in with the next. "
         "A bench that stayed empty cost little, but a bench that kept the others waiting cost a battle.\n\n"
         "Cargo taught a second lesson. A merchant who loads a ship for one large customer and lets three small ones "
         "wait on the quay will hear from all three. If he loads every jar as soon as it is brought, and puts ashore "
         "at each harbour whatever belongs there, the hold is never full of air that somebody has paid for. It needs "
         "more care, since the weight must stay in balance and the jars of one customer may lie in several corners, so "
         "the mate keeps a list of which corner holds what. The list is small, and the space that it saves is not.\n\n"
         "In the evening, when the ship was drawn up on the beach, the crew talked about the day, and most of the talk "
         "had been heard before. The cook, who was asked every night whether there would be fish, had stopped thinking "
         "about the question long ago: he gave the answer that he had given last time, and went on stirring. Nobody "
         "thought the worse of him for that. A good answer does not become bad by being used twice, as long as the "
         "question is really the same.\n";
}

}  // namespace trireme::launch
